"""The report on a dataset: unreadable images, odd sizes, copies, and too few of something."""

from __future__ import annotations

import pytest
from PIL import Image

from tests.helpers.image_folders import encoded, fill, kinds, pets, picture, small, table
from vitexplorer.finetune.data import inspect, read_folder, read_table, split
from vitexplorer.scenes import draw_scene


def test_the_report_of_good_images(tmp_path):
    report = inspect(read_folder(fill(tmp_path, pets(12))))
    assert report.findings == ()
    assert report.can_train
    assert report.counts == (("cats", 12), ("dogs", 12))
    assert report.sizes.tolist() == [[80, 72]] * 24
    assert report.dataset.groups == tuple(range(24))


def test_what_cannot_be_read_is_named_with_its_reason_and_nothing_is_lost(tmp_path):
    bad = {
        "cats/empty.png": b"",
        "cats/text.jpg": b"not a picture",
        "cats/cut.jpg": encoded(picture(7), "jpeg")[:400],
        "cats/phone.heic": b"\0\0\0\x18ftypheic\0\0\0\0",
        "cats/dot.png": encoded(picture(8, 4, 4)),
    }
    odd = {"dogs/jpeg.png": encoded(picture(60), "jpeg"), "dogs/no ending": small(61), "dogs/scan.dat": small(62)}
    fill(tmp_path, {**pets(), **bad, **odd})
    report = inspect(read_folder(tmp_path))
    assert {path for path, _ in report.unreadable} == set(bad)
    reasons = {path: reason.en for path, reason in report.unreadable}
    for path, word in zip(sorted(bad), ("damaged", "at least 8", "0 bytes", "HEIC", "not a picture"), strict=True):
        assert word in reasons[path]
    assert kinds(report.findings)["unreadable"] == tuple(sorted(bad))
    assert {item.path for item in report.dataset.items} == {*pets(), *odd}
    assert all((tmp_path / path).read_bytes() == data for path, data in bad.items())


def test_sizes_that_are_out_of_the_ordinary(tmp_path):
    fill(tmp_path, {**pets(), "cats/tiny.png": encoded(picture(70, 200, 40))})
    fill(tmp_path, {"dogs/huge.jpg": encoded(Image.new("RGB", (5000, 4100), (9, 99, 200)), "jpeg")})
    findings = kinds(inspect(read_folder(tmp_path)).findings)
    assert findings["tiny"] == ("cats/tiny.png",)
    assert findings["huge"] == ("dogs/huge.jpg",)


def test_an_image_over_the_limit_is_refused_with_its_size(tmp_path, limit):
    limit(max_megapixels=0.01)
    fill(tmp_path, {**pets(), "dogs/huge.png": encoded(picture(70, 200, 140))})
    ((path, reason),) = inspect(read_folder(tmp_path)).unreadable
    assert (path, "200 x 140" in reason.en) == ("dogs/huge.png", True)


def test_copies_are_grouped_and_contradictions_named(tmp_path):
    scene = Image.fromarray(draw_scene("examples", 3, 192).image)
    fill(
        tmp_path,
        {
            **pets(10),
            "cats/scene.png": encoded(scene),
            "cats/again.jpg": encoded(scene, "jpeg", quality=60),
            "cats/less.jpg": encoded(scene.resize((120, 120)), "jpeg", quality=90),
            "dogs/copy of 0.png": small(100),
            "dogs/cat.png": small(1),
        },
    )
    report = inspect(read_folder(tmp_path))
    assert set(map(frozenset, report.exact)) == {
        frozenset({"dogs/0.png", "dogs/copy of 0.png"}),
        frozenset({"cats/1.png", "dogs/cat.png"}),
    }
    assert frozenset({"cats/scene.png", "cats/again.jpg", "cats/less.jpg"}) in set(map(frozenset, report.near))
    assert len(report.near) == 3
    findings = kinds(report.findings)
    assert findings["conflicting_labels"] == ("cats/1.png", "dogs/cat.png")
    assert findings["near_duplicates"] == ("cats/again.jpg", "cats/less.jpg", "cats/scene.png")
    assert report.can_train
    for seed in range(20):
        sides = split(report.dataset, seed)
        train = {report.dataset.items[i].path for i in sides.train}
        assert all(len(train & set(group)) in (0, len(group)) for group in report.near)


def test_camera_data_makes_no_other_image_but_turning_does(tmp_path):
    plain = picture(1)
    turned = Image.Exif()
    turned[274] = 6
    note = Image.Exif()
    note[270] = "holiday"
    files = {f"a/{n}.jpg": encoded(plain, "jpeg", **o) for n, o in enumerate(({}, {"exif": note}, {"exif": turned}))}
    report = inspect(read_folder(fill(tmp_path, {**files, "b/1.png": small(2)})))
    assert report.exact == (("a/0.jpg", "a/1.jpg"),)
    assert report.sizes.tolist() == [[80, 72], [80, 72], [72, 80], [80, 72]]


def test_flat_pictures_are_duplicates_only_where_they_are_equal(tmp_path):
    files = {f"a/{i}.png": encoded(Image.new("RGB", (64, 64), (i, i, i))) for i in (0, 9, 200)}
    report = inspect(read_folder(fill(tmp_path, {**files, "b/1.png": small(2)})))
    assert report.exact == report.near == ()


@pytest.mark.parametrize(
    ("files", "kind", "stops"),
    [
        ({f"cats/{i}.png": small(i) for i in range(3)} | {"cats/more/3.png": small(3)}, "one_class", True),
        ({f"{i}/{i}.png": small(i) for i in range(5)}, "one_each", True),
        ({"a/0.png": b"", "b/0.png": b""}, "nothing", True),
        ({**pets(12), "birds/0.png": small(300)}, "single_images", False),
        ({**pets(12), "birds/0.png": b"x"}, "gone_classes", False),
        (pets(9), "few_images", False),
        ({f"cats/{i}.png": small(i) for i in range(100)} | pets(10), "imbalance", False),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_too_little_of_something(tmp_path, files, kind, stops):
    fill(tmp_path, files)
    report = inspect(read_folder(tmp_path))
    assert kind in kinds(report.findings)
    assert report.can_train is not stops
    assert report.findings[0].level == ("stops" if stops else "warning")
    if kind == "nothing":
        assert len(report.dataset) == 0


def test_a_number_that_never_changes_stops_and_few_numbers_warn(tmp_path):
    fill(tmp_path, {f"{i}.png": small(i) for i in range(4)})
    constant = read_table(table(tmp_path, ["f,y", *(f"{i},2.5" for i in range(4))]))
    assert not inspect(constant).can_train
    report = inspect(read_table(table(tmp_path, ["f,y", *(f"{i},{i}.5" for i in range(4))])))
    assert (report.can_train, report.counts, set(kinds(report.findings))) == (True, (), {"few_images"})
