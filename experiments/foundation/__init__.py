"""The first table of figures: our model, its temporal-only ablation and the two plain baselines."""
