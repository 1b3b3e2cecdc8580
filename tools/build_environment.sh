# Sourced by setup.sh, test.sh and tools/test_pytorch in the root of the tree: what their builds have in common.

# The package is built with the compiler and the flags of the release preset, so that ccache, where there is one, has
# every layer for the second build; and a second clone, whose paths differ only above its root, has what the first built.
export CXX=${CXX:-c++}
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}

# PoCL shows no device, and ccache compiles nothing, where they cannot write to their caches.
use_writable_cache() {
  local cache=${XDG_CACHE_HOME:-${HOME:-/}/.cache}
  if mkdir -p "$cache" 2>/dev/null && [[ -w $cache ]]; then return; fi
  export XDG_CACHE_HOME=$PWD/build/cache
  mkdir -p "$XDG_CACHE_HOME"
  echo "$cache cannot be written to. Set this wherever programs run: export XDG_CACHE_HOME=$XDG_CACHE_HOME"
}
use_writable_cache
