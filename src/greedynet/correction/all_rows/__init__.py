"""The final correction of networks that were grown on samples, by sums over all rows."""
