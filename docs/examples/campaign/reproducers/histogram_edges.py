"""tools.histogram with bins="auto", claimed 1-DP: the number of bins follows from the records."""

from diffprivlib import tools

for data in ([0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.9]):
    print({len(tools.histogram(data, 1.0, bins="auto", range=(0, 1), random_state=i)[1]) for i in range(100)})
print("the two sets are disjoint, so that no epsilon holds")
