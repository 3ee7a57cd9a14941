"""Process monitoring with sparse spatial and temporal message passing."""
