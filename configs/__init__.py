"""Ready-made configurations; installed as the package ``attentionmixer.configs``."""
