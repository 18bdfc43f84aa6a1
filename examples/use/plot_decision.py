"""
From a CSV file to a decision
=============================

A crew at 50 degrees north needs ten hours of daylight for a shift. On which days of the year can it
plan one? The data are 2,000 notes of the hours of daylight at many places and days, each off by a
quarter of an hour or so. A prediction alone does not answer the question: half of the days with
exactly ten predicted hours would be too short.
"""

import matplotlib.pyplot as plt
import numpy as np

import greedynet
from greedynet.cli.demo_data import daylight_hours, daylight_path

print(daylight_path().read_text()[:80])

# %%
# A fifth of the rows are held out. The first sentence of the summary says how far predictions are
# off, and what always guessing the mean would give.

model = greedynet.fit_table(daylight_path(), "hours", hold_out=0.2)
print(model.summary())

# %%
# Is 50 degrees north within what the data show? If not, all that follows would be a guess.

days = np.arange(1, 366)
places = {"day": days, "latitude": np.full(len(days), 50.0)}
print(model.outside(places).rows.sum(), "of the days are outside the training data")

# %%
# One new note in twenty is below the lower end of a 90 % interval. The crew plans a shift where
# that end is above ten hours.

hours = model.predict(places)
low, high = model.predict_interval(places, coverage=0.9)
planned, likely = low >= 10, hours >= 10
print(f"predicted to be long enough: {likely.sum()} days, planned: {planned.sum()}")
print(f"from day {days[planned][0]} to day {days[planned][-1]}")

# %%
# Here the truth is known. How many of the days are too short?

true = daylight_hours(days, 50.0)
print(
    f"too short: {np.sum(true[planned] < 10)} of those planned, "
    f"{np.sum(true[likely] < 10)} of those predicted to be long enough"
)

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.fill_between(days, low, high, color="#c0364a", alpha=0.2, lw=0, label="90 % interval")
ax.plot(days, hours, color="#c0364a", label="the network")
ax.plot(days, true, ":", color="#1f2430", label="truth")
ax.axhline(10, color="#5a6272", lw=1)
ax.fill_between(days, 6.5, 7, where=planned, color="#1f5c99", lw=0, label="shifts are planned")
ax.set(xlabel="day of the year", ylabel="hours of daylight", xlim=(1, 365))
ax.legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.47, 0.11))
plt.show()
