"""What the commands of ``python -m attentionmixer.data`` do, apart from drawing: options, findings, words, JSON."""
