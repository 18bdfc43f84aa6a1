"""The program in tests: a command, the exit code that it must have, and what it said."""

from click.testing import CliRunner, Result

from greedynet.cli import main


def run(*arguments: object, code: int = 0, given: str | bytes | None = None) -> Result:
    """Run a command; if it fails, it says why in a line after click's usage."""
    result = CliRunner().invoke(main, list(map(str, arguments)), input=given)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    if code:
        assert isinstance(result.exception, SystemExit)
        # Click's usage takes three lines, each choice of a missing option one.
        assert len(result.stderr.splitlines()) <= 4 or "Choose from:" in result.stderr
    return result


def output_of(*arguments: object) -> str:
    """Return what a command prints that succeeds, or is refused."""
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code in (0, 2), result.output
    return result.output
