"""Pushing a row of shares through a block, by hand."""

from __future__ import annotations

import torch

from vitexplorer.quantities.rollout import push_added, push_averaged


def test_pushing_by_hand():
    """Push one row of shares through a block by hand.

    The row is (1, 2), and E = [1 3; 0 1]. So I + E = [2 3; 0 2], and rownorm(0.5 E + 0.5 I) = [.4 .6; 0 1].
    """
    shares, E = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[1.0, 3.0], [0.0, 1.0]]])
    for pieces in ([(slice(None), E)], [(slice(0, 1), E[:, :1]), (slice(1, 2), E[:, 1:])]):
        torch.testing.assert_close(push_added(shares, pieces), torch.tensor([[[2.0, 7.0]]]))
        torch.testing.assert_close(push_averaged(shares, pieces), torch.tensor([[[0.4, 2.6]]]))
