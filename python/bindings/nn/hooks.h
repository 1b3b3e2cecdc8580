#pragma once

#include "module_class.h"

/** \file Hooks stand in the module's __dict__, {number: hook} in the order in which they are called, where
 * Python's collector sees them and programs look for them. C++ reaches them through one hook of its own for
 * each dict. */

inline constexpr const char* forward_hooks = "_forward_hooks";
inline constexpr const char* forward_pre_hooks = "_forward_pre_hooks";
inline constexpr const char* backward_hooks = "_backward_hooks";
inline constexpr const char* state_dict_pre_hooks = "_state_dict_pre_hooks";
inline constexpr const char* state_dict_hooks = "_state_dict_hooks";
inline constexpr const char* load_state_dict_pre_hooks = "_load_state_dict_pre_hooks";
inline constexpr const char* load_state_dict_post_hooks = "_load_state_dict_post_hooks";

struct Hook {
  py::object function;
  bool is_flagged;  // takes keyword arguments too; before loading a state dict: does not take the module
};

/** The hooks of one kind; a list of their own, since a hook may remove itself. */
std::vector<Hook> hooks_of(const py::object& self, const char* kind);

/** The module called from Python: hooks of both languages around the object's own forward. */
py::object call_with_hooks(const py::object& self, const py::args& args, const py::kwargs& kwargs);
/** The dict of that name ("_forward_hooks") with hooks that Python registered, made if it is none yet; an
 * empty object where no hooks have that name. */
py::object hooks_named(const py::object& self, const std::string& name);
/** Makes C++ call the hooks that stand in the object's dicts already. */
void follow_hooks(const py::object& self, Module& module);
/** Drops all hooks that Python registered. */
void clear_hooks(const py::object& self);
/** Whether calling the module calls its C++ class's forward: none of the object's own or put on the class. */
bool has_bound_forward(const py::object& module);
/** Makes C++ call what Python calls as the object's `forward`, where its C++ half would call another. */
void follow_forward(const py::object& self, Module& module);
void bind_hooks(py::module_& m, py::object module_class);
