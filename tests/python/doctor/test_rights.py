"""Files of GPUs that the user may not open."""

import grp
import os
import pwd
from types import SimpleNamespace

import pytest

from ocl.doctor import rights

USER = pwd.getpwuid(os.getuid()).pw_name


@pytest.fixture
def node(tmp_path, monkeypatch):
    """Makes a device file of a group and a mode that this user may not open (root may open all)."""
    path = tmp_path / "renderD128"
    path.touch()
    monkeypatch.setattr(os, "access", lambda path, mode: False)

    def made(gid, mode, group="", members=()):
        real = os.stat(path)
        described = SimpleNamespace(st_mode=(real.st_mode & ~0o777) | mode, st_uid=0, st_gid=gid)
        monkeypatch.setattr(rights.os, "stat", lambda path: described)

        def by_number(number):
            if not group:
                raise KeyError(number)
            return SimpleNamespace(gr_name=group, gr_mem=list(members))

        monkeypatch.setattr(grp, "getgrgid", by_number)
        return str(tmp_path / "render*")

    return made


def only(pattern, works_on_gpu=False):
    (finding,) = rights.check(works_on_gpu, [pattern])
    return finding


def test_a_missing_group_is_a_fault_with_the_command(node):
    found = only(node(44, 0o660, "render"))
    assert found.level == "fault"
    assert "renderD128 (root:render, -rw-rw----) is closed to" in found.text
    assert found.remedy == f"`sudo usermod -aG render {USER}`, then log out and in again"


def test_where_a_gpu_works_it_is_no_fault(node):
    assert only(node(44, 0o660, "render"), works_on_gpu=True).level == "note"


def test_a_member_since_this_session_began(node):
    assert "log out and in again" in only(node(44, 0o660, "render", [USER])).remedy
    assert "usermod" not in only(node(44, 0o660, "render", [USER])).remedy


def test_a_group_without_a_name(node):
    assert "--group-add 109" in only(node(109, 0o660)).remedy


@pytest.mark.parametrize(("gid", "mode", "group"), [(44, 0o600, "render"), (0, 0o660, "root")])
def test_a_file_for_its_owner_alone(node, gid, mode, group):
    assert "sudo chgrp render" in only(node(gid, mode, group)).remedy


def test_an_open_file_is_all_right(tmp_path):
    (tmp_path / "kfd").touch()
    found = only(str(tmp_path / "kfd"))
    assert found.level == "ok"
    assert f"is open to {USER}" in found.text


def test_no_file_is_said(tmp_path):
    assert only(str(tmp_path / "*")).level == "ok"
