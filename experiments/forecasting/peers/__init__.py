"""Models that others wrote, behind our interface. They need: pip install 'attentionmixer[bench]'."""
