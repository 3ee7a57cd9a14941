"""The benchmark: many models on many logs, on the same windows, with the same budget, measured by one evaluator."""
