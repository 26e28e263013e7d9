#!/bin/sh
# SPDX-License-Identifier: MIT
# example.sh DIRECTORY: runs the programs that install.sh built; each must print the cosine that the float64 reference gives for this pair.
model=${CLF_MODEL_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/clformer/models/all-MiniLM-L6-v2}
[ -f "$model/model.safetensors" ] || { echo "skipped: no model in $model"; exit 77; }
status=0
for program in clformer shared static pkgconfig pkgconfig_static; do
    cosine=$("$1/example_$program" "$model" "A man is eating food." "Someone is having a meal.") || status=1
    echo "example_$program: $cosine"
    [ "$cosine" = 0.6888 ] || status=1
done
# The same through the shared library's C interface from Python.
cosine=$(LD_LIBRARY_PATH=$(dirname "$(find "${1%.consumer}" -name 'libclformer.so.0')") python3 "$(dirname "$0")/example.py" "$model" \
    "A man is eating food." "Someone is having a meal.") || status=1
echo "example.py: $cosine"
[ "$cosine" = 0.6888 ] || status=1
# A model that is not there is an error with a reason, not a crash.
"$1/example_shared" "$model/nowhere" a b 2>&1 >/dev/null | grep -q '^not found: ' || { echo "a missing model gives no reason"; status=1; }
exit $status
