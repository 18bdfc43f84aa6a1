"""What HiGHS prints on its own never reaches the standard output; what others print does."""

import ctypes
import os
import subprocess
import sys
import threading

import pytest

from greedynet.exact import sensitivity
from greedynet.exact.programme import without_stray_lines
from networks import random_network

STRAY = b"HighsMipSolverData::transformNewIntegerFeasibleSolution tmpSolver.run();\n"
C = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)


def ask_what_makes_highs_print():
    """Ask for slopes of a network at which HiGHS 1.12 prints a line."""
    network = random_network(20, n_features=3, seed=8)
    return sensitivity(network, [0], dict.fromkeys(range(3), (-2.0, 2.0)))


def test_nothing_is_printed(capfd):
    (found,) = ask_what_makes_highs_print().values()
    assert found.proven
    C.fflush(None)
    assert capfd.readouterr().out == ""


def test_what_others_print_is_passed_on(capfd):
    with without_stray_lines(), without_stray_lines():
        os.write(1, b"mine\nhalf a ")
        os.write(1, STRAY)
        os.write(1, b"line\n")
        assert capfd.readouterr().out == ""
    assert capfd.readouterr().out == "mine\nhalf a line\n"


def test_the_last_of_many_threads_restores_the_output(capfd):
    inside, leave = threading.Event(), threading.Event()

    def stay():
        with without_stray_lines():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=stay)
    thread.start()
    inside.wait()
    with without_stray_lines():
        os.write(1, STRAY + b"first\n")
    os.write(1, STRAY + b"second\n")
    leave.set()
    thread.join()
    os.write(1, b"third\n")
    assert capfd.readouterr().out == "first\nsecond\nthird\n"


def test_an_error_restores_the_output(capfd):
    with pytest.raises(ZeroDivisionError, match="division"), without_stray_lines():
        raise ZeroDivisionError("division")
    os.write(1, b"after\n")
    assert capfd.readouterr().out == "after\n"


def test_a_closed_output_is_left_alone():
    code = (
        "import os, sys, test_highs\n"
        "os.close(1)\n"
        "test_highs.ask_what_makes_highs_print()\n"
        "print('answered', file=sys.stderr)\n"
        "os.fstat(1)"
    )
    here = os.path.dirname(__file__)
    run = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True)
    assert run.stderr.startswith("answered")
    assert "Bad file descriptor" in run.stderr
