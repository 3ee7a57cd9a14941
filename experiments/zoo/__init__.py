"""The models that come with the package: how they are trained, measured and described."""
