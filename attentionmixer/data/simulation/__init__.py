"""The parts of the simulated ring, one mechanism a file; `attentionmixer.data.simulate` puts them together."""
