"""Several processes that train one model: which of them this one is."""

from __future__ import annotations

import os

import torch

from ..errors import ConfigError

#: Ways to start processes that carry no result back into the one that asked.
_LOSING = ("spawn", "fork", "notebook")


def is_helper() -> bool:
    """Whether another process leads: it writes the run, this one only computes its share of each step.

    A Lightning trainer starts the command line again for each further device, and says so in the environment;
    ``torchrun`` does the same.
    """
    return any(os.environ.get(name, "0") != "0" for name in ("RANK", "LOCAL_RANK", "NODE_RANK"))


def part_ways() -> None:
    """End the group of processes once training is over: what follows is the leader's alone, and must wait for none."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()


def check_strategy(name: str) -> None:
    """Raise `ConfigError` for strategies whose trained weights stay in processes that end."""
    if any(word in name for word in _LOSING):
        raise ConfigError(f"trainer.strategy is {name!r}: its processes keep what they learn to themselves; use 'ddp'")
