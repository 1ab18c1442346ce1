"""Which instruction files enter the recorded prefix."""

from __future__ import annotations

from pathlib import Path

from deeptide.wiring.instructions import CAP, instructions


def make(tmp_path: Path) -> tuple[Path, Path]:
    config, root = tmp_path / "config", tmp_path / "repo"
    inner = root / "pkg"
    for folder in (config, inner, root / ".git"):
        folder.mkdir(parents=True)
    (config / "AGENTS.md").write_text("be brief")
    (root / "AGENTS.md").write_text("use tabs")
    (root / "CLAUDE.md").write_text("never read")
    (inner / "CLAUDE.md").write_text("包内规则")
    return inner, config


def test_the_users_file_comes_first_and_the_nearest_last_one_a_folder(tmp_path: Path) -> None:
    inner, config = make(tmp_path)
    text, notices = instructions(inner, config, trusted=True)
    assert [text.index(part) for part in ("be brief", "use tabs", "包内规则")] == sorted(
        text.index(part) for part in ("be brief", "use tabs", "包内规则")
    )
    assert "never read" not in text and not notices


def test_an_untrusted_folder_gives_nothing_of_its_own(tmp_path: Path) -> None:
    inner, config = make(tmp_path)
    text, _ = instructions(inner, config, trusted=False)
    assert "be brief" in text and "use tabs" not in text and "包内规则" not in text


def test_a_long_file_is_cut_with_a_notice_and_escapes_are_cleaned(tmp_path: Path) -> None:
    inner, config = make(tmp_path)
    (inner / "CLAUDE.md").write_text("\x1b[31mred\x1b[0m " + "x" * (2 * CAP))
    text, notices = instructions(inner, config, trusted=True)
    assert "\x1b" not in text and "red" in text
    assert len(notices) == 1 and "CLAUDE.md" in notices[0]


def test_a_long_file_of_wide_characters_stays_text(tmp_path: Path) -> None:
    inner, config = make(tmp_path)
    (inner / "CLAUDE.md").write_text("x" + "中文规则" * 20_000, encoding="utf-8")
    text, notices = instructions(inner, config, trusted=True)
    assert "中文规则中文规则" in text and "ä" not in text and notices


def test_a_link_to_a_secret_and_a_binary_file_are_named_and_not_sent(tmp_path: Path) -> None:
    inner, config = make(tmp_path)
    (tmp_path / "id_rsa").write_text("PRIVATE KEY of the user")
    (inner / "CLAUDE.md").unlink()
    (inner / "AGENTS.md").symlink_to(tmp_path / "id_rsa")
    text, notices = instructions(inner, config, trusted=True)
    assert "PRIVATE" not in text and any("secrets" in notice for notice in notices)
    (inner / "AGENTS.md").unlink()
    (inner / "AGENTS.md").write_bytes(b"\0\1\2binary" * 50)
    text, notices = instructions(inner, config, trusted=True)
    assert "binary" not in text and any("not text" in notice for notice in notices)
