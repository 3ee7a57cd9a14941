"""`AttentionMixer`: what it promises about its routes, gates and quantiles."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from attentionmixer.errors import ConfigError
from attentionmixer.models import Task, build
from attentionmixer.models.attentionmixer import AttentionMixer, AttentionMixerConfig
from attentionmixer.nn.ridge import ALPHAS
from attentionmixer.training.losses import forecast_loss, pinball

LEVELS = (0.1, 0.5, 0.9)
VARIATES, HORIZON = 4, 3


def make(lookback: int = 13, known: int = 0, static: int = 0, **settings: Any) -> AttentionMixer:
    torch.manual_seed(0)
    places = tuple(tuple(0.3 * i - 0.2 * s for s in range(static)) for i in range(VARIATES)) if static else ()
    task = Task(VARIATES, lookback, HORIZON, LEVELS, known, places)
    model = AttentionMixer(task, AttentionMixerConfig(**{"width": 8, "heads": 2, "patch": 4, **settings}))
    return model.eval()


def randomise(model: AttentionMixer) -> AttentionMixer:
    """Weights as if trained: nothing that starts at zero stays there."""
    torch.manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name != "gates.logit":
                parameter.normal_(std=0.4)
    return model


def windows(model: AttentionMixer, batch: int = 2) -> tuple[Tensor, Tensor, Tensor | None]:
    torch.manual_seed(2)
    task = model.task
    mask = torch.rand(batch, task.lookback, task.variates) > 0.2
    x = torch.randn(batch, task.lookback, task.variates) * mask
    known = torch.randn(batch, task.lookback + task.horizon, task.known) if task.known else None
    return x, mask, known


def close_all_gates(model: AttentionMixer) -> None:
    assert model.gates is not None
    with torch.no_grad():
        model.gates.logit.fill_(-20.0)


def influence(model: AttentionMixer) -> Tensor:
    """[to, from] largest |∂ output of one variate / ∂ input of another|, over every output, quantiles too."""
    x, mask, known = windows(model)
    mask = torch.ones_like(mask)
    result = torch.zeros(VARIATES, VARIATES)
    for i in range(VARIATES):
        x = x.detach().requires_grad_()
        output = model(x, mask, known)[:, :, i]
        for part in output.flatten(1).sum(0):
            (gradient,) = torch.autograd.grad(part, x, retain_graph=True)
            result[i] = torch.maximum(result[i], gradient.abs().amax(dim=(0, 1)))
    return result


@pytest.mark.parametrize("settings", [{}, {"normalizer": "entmax"}, {"gates": False}, {"growing": False}])
@torch.no_grad()
def test_asking_for_routes_does_not_change_the_forecast(settings: dict[str, Any]) -> None:
    model = randomise(make(known=2, static=2, **settings))
    batch = windows(model)
    told, routes = model.forward_with_routes(*batch)
    assert (told - model(*batch)).abs().max() <= 1e-5
    assert told.std() > 0.1
    assert routes


@pytest.mark.parametrize("normalizer", ["softmax", "entmax"])
@torch.no_grad()
def test_routes_are_labelled_by_axis_and_round_and_their_rows_sum_to_1(normalizer: str) -> None:
    model = randomise(make(known=2, static=2, rounds=3, normalizer=normalizer))
    _, routes = model.forward_with_routes(*windows(model))
    assert [(r.axis, r.round) for r in routes] == [(a, k) for k in (1, 2, 3) for a in ("temporal", "spatial")]
    patches = len(model.temporal_ages())
    for part in routes:
        spatial = part.axis == "spatial"
        expected = (2, patches, 2, 4, 4 + 2) if spatial else (2, 4, 2, patches, patches + 1)
        assert part.rows.shape == expected
        torch.testing.assert_close(part.rows.sum(-1), torch.ones(expected[:-1]))
        assert part.weight.shape == (2, 2, *expected[3:])


@pytest.mark.parametrize("normalizer", ["softmax", "entmax"])
def test_with_all_gates_closed_no_variate_has_any_influence_on_another(normalizer: str) -> None:
    model = randomise(make(normalizer=normalizer))
    others = ~torch.eye(VARIATES, dtype=torch.bool)
    assert (influence(model)[others] > 0).all(), "the test means nothing if routes carry nothing while they are open"
    close_all_gates(model)
    closed = influence(model)
    assert (closed[others] == 0).all()
    assert (closed.diagonal() > 0).all()


def test_one_open_route_is_the_only_one_that_carries_anything() -> None:
    model = randomise(make(rounds=1))
    close_all_gates(model)
    assert model.gates is not None
    with torch.no_grad():
        model.gates.logit[2, 0] = 3.0
    expected = torch.eye(VARIATES, dtype=torch.bool)
    expected[2, 0] = True
    assert torch.equal(influence(model) > 0, expected)


def test_without_the_spatial_block_no_variate_has_any_influence_on_another() -> None:
    model = randomise(make(spatial=False))
    assert model.gates is None and model.crossing is None
    assert model.route_gates == [] and model.crossing_strength() is None
    matrix = influence(model)
    assert (matrix[~torch.eye(VARIATES, dtype=torch.bool)] == 0).all()
    assert (matrix.diagonal() > 0).all()


def test_closed_gates_shut_out_known_ahead_channels_too() -> None:
    model = randomise(make(known=2))
    x, mask, known = windows(model)
    assert known is not None
    with torch.no_grad():
        assert not torch.equal(model(x, mask, known), model(x, mask, known + 1))
        close_all_gates(model)
        assert torch.equal(model(x, mask, known), model(x, mask, known + 1))


@torch.no_grad()
def test_the_crossing_strength_is_exactly_0_where_a_gate_is_closed() -> None:
    model = randomise(make())
    strength = model.crossing_strength()
    assert strength is not None and (strength > 0).all()
    close_all_gates(model)
    strength = model.crossing_strength()
    assert strength is not None
    assert torch.equal(strength > 0, torch.eye(VARIATES, dtype=torch.bool))


@torch.no_grad()
def test_quantiles_are_ordered_whatever_the_weights() -> None:
    model = randomise(make())
    output = model(*windows(model, 32))
    assert output.shape == (32, HORIZON, VARIATES, 1 + len(LEVELS))
    assert (output[..., 1:].diff(dim=-1) >= 0).all()


def test_the_pinball_loss_reaches_nothing_but_the_spread() -> None:
    model = randomise(make(known=1, static=1)).train()
    x, mask, known = windows(model)
    output, y = model(x, mask, known), torch.randn(2, HORIZON, VARIATES)
    pinball(output[..., 1:], y, torch.ones_like(y, dtype=torch.bool), torch.tensor(LEVELS)).backward()
    reached = {name for name, p in model.named_parameters() if p.grad is not None and bool((p.grad != 0).any())}
    assert reached == {"head.spread.weight", "head.spread.bias"}


def test_every_parameter_learns_from_the_whole_loss() -> None:
    model = randomise(make(known=1, static=1, dropout=0.0)).train()
    x, mask, known = windows(model, 8)
    y = torch.randn(8, HORIZON, VARIATES)
    forecast_loss(model(x, mask, known), y, torch.ones_like(y, dtype=torch.bool), torch.tensor(LEVELS), 1.0).backward()
    idle = [n for n, p in model.named_parameters() if p.grad is None or not bool((p.grad != 0).any())]
    assert idle == []
    assert all(bool(torch.isfinite(p.grad).all()) for p in model.parameters() if p.grad is not None)


@pytest.mark.parametrize("lookback", [1, 5, 13, 15, 96])
@pytest.mark.parametrize("growing", [False, True])
@torch.no_grad()
def test_any_look_back_works_and_every_step_of_it_counts(lookback: int, growing: bool) -> None:
    model = randomise(make(lookback, growing=growing))
    x, mask, _ = windows(model)
    mask = torch.ones_like(mask)
    forecast, _ = model.forward_with_routes(x, mask)
    assert forecast.shape == (2, HORIZON, VARIATES, 4)
    assert torch.isfinite(forecast).all()
    assert model.temporal_ages()[0][0] == lookback and model.temporal_ages()[-1][1] == 1
    for step in (0, lookback // 2, lookback - 1):
        other = x.clone()
        other[:, step] += 1.0
        assert not torch.allclose(model(other, mask), forecast)


@torch.no_grad()
def test_what_stands_in_for_a_missing_step_has_no_influence() -> None:
    model = randomise(make())
    x, mask, _ = windows(model)
    torch.testing.assert_close(model(torch.where(mask, x, 7.0), mask), model(x, mask), rtol=0, atol=1e-6)


@torch.no_grad()
def test_a_window_without_any_reading_gives_a_finite_forecast() -> None:
    model = randomise(make())
    x, mask, _ = windows(model)
    assert torch.isfinite(model(torch.zeros_like(x), torch.zeros_like(mask))).all()


@torch.no_grad()
def test_the_forecast_of_a_window_does_not_depend_on_its_batch() -> None:
    model = randomise(make(known=1))
    x, mask, known = windows(model, 5)
    assert known is not None
    alone = torch.cat([model(x[i : i + 1], mask[i : i + 1], known[i : i + 1]) for i in range(5)])
    torch.testing.assert_close(model(x, mask, known), alone, rtol=0, atol=1e-5)


@torch.no_grad()
def test_known_ahead_channels_and_static_numbers_change_the_forecast() -> None:
    model = randomise(make(known=2, static=2))
    x, mask, known = windows(model)
    assert known is not None
    before = model(x, mask, known)
    changed = known.clone()
    changed[:, -1] += 1.0
    assert not torch.allclose(model(x, mask, changed), before)
    model.static = model.static + 1.0
    assert not torch.allclose(model(x, mask, known), before)


@torch.no_grad()
def test_the_first_forecast_is_the_mean_of_the_window() -> None:
    model = make()
    x, mask, _ = windows(model)
    mean = (x * mask).sum(1) / mask.sum(1)
    torch.testing.assert_close(model(x, mask)[..., 0], mean.unsqueeze(1).expand(-1, HORIZON, -1))


def autoregressive(model: AttentionMixer) -> list[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """A decaying network in which tag 0 drives all others a step later."""
    generator = torch.Generator().manual_seed(0)
    series = torch.zeros(400, VARIATES)
    for t in range(1, 400):
        series[t] = 0.8 * series[t - 1] + 0.6 * series[t - 1, 0] + torch.randn(VARIATES, generator=generator)
        series[t, 0] -= 0.6 * series[t - 1, 0]
    cut = model.task.lookback
    parts = series.unfold(0, cut + HORIZON, 1).transpose(1, 2).split(64)
    return [(p[:, :cut], p[:, :cut] < 1e9, p[:, cut:], p[:, cut:] < 1e9) for p in parts]


@torch.no_grad()
def error(model: AttentionMixer, batches: list[tuple[Tensor, Tensor, Tensor, Tensor]]) -> float:
    return sum(float((model(x, m)[..., 0] - y).square().sum()) for x, m, y, _ in batches)


def test_a_warm_start_lowers_the_training_error_before_any_training() -> None:
    errors = {}
    for name, settings in {"cold": {"warm_start": False}, "direct": {"cross_lags": 0}, "both": {}}.items():
        model = make(**{"warm_start": True, **settings})
        batches = autoregressive(model)
        model.warm_start(lambda batches=batches: iter(batches))
        errors[name] = error(model, batches)
    assert errors["both"] < errors["direct"] < errors["cold"]


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@torch.no_grad()
def test_a_sparse_model_forecasts_as_its_dense_form_and_shows_the_same_routes(share: float) -> None:
    dense = randomise(make(known=1, static=1))
    assert dense.gates is not None
    torch.manual_seed(3)
    dense.gates.logit.masked_fill_(torch.rand(dense.gates.logit.shape) >= share, -1e4)
    sparse = make(known=1, static=1, sparse=True)
    sparse.load_state_dict(dense.state_dict())
    given = windows(dense)
    torch.testing.assert_close(sparse(*given), dense(*given), atol=1e-5, rtol=1e-5)
    ours, theirs = (model.forward_with_routes(*given)[1] for model in (sparse, dense))
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.rows, other.rows, atol=1e-5, rtol=1e-5)
        assert bool((one.rows[other.rows == 0] == 0).all())


def test_a_sparse_model_trains_as_its_dense_form() -> None:
    sparse, dense = randomise(make(sparse=True)).train(), randomise(make()).train()
    sparse.load_state_dict(dense.state_dict())
    given, outputs = windows(dense), []
    for model in (sparse, dense):
        torch.manual_seed(5)
        outputs.append(model(*given))
    assert torch.equal(outputs[0], outputs[1])


@pytest.mark.parametrize("settings", [{"gates": False}, {"spatial": False}, {"normalizer": "entmax"}])
def test_sparse_needs_gates_between_tags(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="sparse needs gates=true and spatial=true"):
        make(sparse=True, **settings)


def test_a_crossing_fitted_in_closed_form_is_not_trained_further() -> None:
    fitted, free = make(warm_start=True), make()
    assert fitted.crossing is not None and free.crossing is not None
    assert not any(p.requires_grad for p in fitted.crossing.parameters())
    assert all(p.requires_grad for p in free.crossing.parameters())
    assert all(p.requires_grad for p in fitted.direct.parameters())
    assert fitted.parameter_count == free.parameter_count


@torch.no_grad()
def test_without_warm_start_the_paths_stay_at_zero() -> None:
    model = make()
    batches = autoregressive(model)
    model.warm_start(lambda: iter(batches))
    assert model.crossing is not None
    assert (model.direct.weight == 0).all() and (model.crossing.coefficient == 0).all()


@pytest.mark.parametrize("normalizer", ["softmax", "entmax"])
def test_it_trains_under_bf16_autocast(normalizer: str) -> None:
    model = randomise(make(known=1, static=1, normalizer=normalizer)).train()
    x, mask, known = windows(model)
    y = torch.randn(2, HORIZON, VARIATES)
    with torch.autocast("cpu", torch.bfloat16):
        output = model(x, mask, known)
        loss = forecast_loss(output, y, torch.ones_like(y, dtype=torch.bool), torch.tensor(LEVELS), 1.0)
    loss.backward()
    assert torch.isfinite(output).all()
    assert all(bool(torch.isfinite(p.grad).all()) for p in model.parameters() if p.grad is not None)
    model.eval()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        half = model(x, mask, known).float()
    with torch.no_grad():
        whole = model(x, mask, known)
    assert (half - whole).abs().mean() < 0.05 * whole.abs().mean()


def test_gates_are_drawn_once_for_all_rounds_and_the_crossing_path() -> None:
    model = make().train()
    assert model.gates is not None
    calls = []
    model.gates.register_forward_hook(lambda *_: calls.append(1))
    model(*windows(model))
    assert calls == [1]


def test_the_model_is_saved_and_loaded_by_its_weights_alone() -> None:
    model = randomise(make(known=1, static=1))
    other = make(known=1, static=1)
    other.load_state_dict(model.state_dict())
    batch = windows(model)
    with torch.no_grad():
        assert torch.equal(model(*batch), other(*batch))


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(Exception, match="width 10 is not divisible by 4 heads"):
        build("attentionmixer", Task(3, 8, 2, LEVELS), {"width": 10, "heads": 4})


def test_the_warm_start_is_the_ridge_solution_on_normalised_windows() -> None:
    model = make(warm_start=True, cross_lags=0)
    batches = autoregressive(model)
    model.warm_start(lambda: iter(batches))
    inputs, outputs = [], []
    for x, mask, y, _ in batches:
        z, statistics = model.norm(x, mask)
        inputs.append(z.transpose(1, 2).flatten(0, 1))
        outputs.append(((y - statistics.mean) / statistics.scale).transpose(1, 2).flatten(0, 1))
    f, t = torch.cat(inputs).double(), torch.cat(outputs).double()
    eye = torch.eye(f.shape[1], dtype=torch.float64)
    solutions = [torch.linalg.solve(f.T @ f + alpha * len(f) * eye, f.T @ t).T.float() for alpha in ALPHAS]
    distances = [float((model.direct.weight.detach() - solution).abs().max()) for solution in solutions]
    assert min(distances) < 1e-4
    assert float(model.direct.weight.detach().abs().max()) > 0.1


def test_the_same_seed_gives_the_same_bits_in_weights_gates_and_gradients() -> None:
    def once() -> list[Tensor]:
        model = randomise(make(known=1, static=1)).train()
        x, mask, known = windows(model)
        torch.manual_seed(5)
        output = model(x, mask, known)
        output.square().sum().backward()
        return [output.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]

    assert all(torch.equal(a, b) for a, b in zip(once(), once(), strict=True))


@torch.no_grad()
@pytest.mark.parametrize("levels", [(), (0.5,)])
def test_few_or_no_quantile_levels_are_possible(levels: tuple[float, ...]) -> None:
    model = AttentionMixer(Task(VARIATES, 13, HORIZON, levels), AttentionMixerConfig(width=8, heads=2, patch=4))
    x, mask, _ = windows(model.eval())
    assert model(x, mask).shape == (2, HORIZON, VARIATES, 1 + len(levels))


@torch.no_grad()
def test_without_tag_embedding_and_gates_no_variate_is_special() -> None:
    model = randomise(make(tag_embedding=False, gates=False, cross_lags=0))
    x, mask, _ = windows(model)
    order = torch.tensor([2, 0, 3, 1])
    permuted = model(x[..., order], mask[..., order])
    torch.testing.assert_close(permuted, model(x, mask)[:, :, order], rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "settings", [{"heads": 0}, {"width": 10, "heads": 4}, {"patch": 0}, {"norm_epsilon": 0.0}], ids=str
)
def test_settings_that_can_not_work_are_a_configuration_error(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="model 'attentionmixer'"):
        build("attentionmixer", Task(3, 8, 2, LEVELS), settings)


@torch.no_grad()
def test_the_compiler_takes_the_whole_model_as_one_graph() -> None:
    """With the backend that needs no C++ compiler: what can break is the tracing, and that is the same for all."""
    model = randomise(make(known=1, static=1))
    x, mask, known = windows(model)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, mask, known), model(x, mask, known), rtol=0, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("static", [0, 3])
def test_without_a_spatial_block_known_channels_still_count_and_no_tag_sees_another(static: int) -> None:
    model = randomise(make(known=2, static=static, spatial=False))
    x, mask, known = windows(model)
    assert known is not None
    before, other = model(x, mask, known), known.clone()
    other[:, -1, 1] += 1.0
    assert (model(x, mask, other) != before).flatten(3).any(dim=-1).any(dim=1).all()
    moved = x.clone()
    moved[:, :, 0] += mask[:, :, 0]
    assert torch.equal(model(moved, mask, known)[:, :, 1:], before[:, :, 1:])
    _, routes = model.forward_with_routes(x, mask, known)
    assert {part.axis for part in routes} == {"temporal"}
    assert routes[0].weight.shape[-1] == len(model.temporal_ages()) + 2 + (1 if static else 0)
