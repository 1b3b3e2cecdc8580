#!/usr/bin/env bash
# train_and_predict.sh TRAIN PREDICT: a training that is killed goes on bit for bit, and its net names what pictures show.
set -euo pipefail
train=$1 predict=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  printf 'train_and_predict.sh: %s\n' "$1" >&2
  exit 1
}
losses() { cut -d, -f1-5 "$1/log.csv"; }  # without the speed

# Dropout, mixup, cutmix and averaged weights: every kind of random number and of state that a checkpoint holds.
options=(--net squeezenet1_1 --fake-size 96 --batch-size 8 --epochs 6 --mixup 0.2 --cutmix 1 --ema 0.9 --clip 1 --accumulate 2
  --checkpoint-every 2 --log-interval 2 --lr 1e-3)
"$train" "${options[@]}" --output "$folder/whole"

"$train" "${options[@]}" --output "$folder/killed" >/dev/null &
while [[ ! -e $folder/killed/checkpoint.previous ]]; do
  kill -0 $! || fail 'the training ended before it could be killed'
  sleep 0.01
done
kill -KILL $!
wait $! || true
[[ ! -e $folder/killed/model.safetensors ]] || fail 'the training was killed too late to tell'
"$train" "${options[@]}" --output "$folder/killed" --resume
[[ $(losses "$folder/whole") == "$(losses "$folder/killed")" ]] || fail 'other losses after the kill'
cmp "$folder/whole/model.safetensors" "$folder/killed/model.safetensors"

# What was damaged since is told, and the one before is taken; what is no checkpoint is called so.
head -c 5000 "$folder/killed/checkpoint.safetensors" >"$folder/part" && mv "$folder/part" "$folder/killed/checkpoint.safetensors"
said=$("$train" "${options[@]}" --output "$folder/killed" --resume 2>&1) || fail "a damaged checkpoint ended the training: $said"
[[ $said == *'going on from the one before'* ]] || fail "nothing is said of a damaged checkpoint: $said"
[[ $(losses "$folder/whole") == "$(losses "$folder/killed")" ]] || fail 'other losses after the damage'
mkdir "$folder/foreign" && cp "$folder/whole/model.safetensors" "$folder/foreign/checkpoint.safetensors"
said=$("$train" "${options[@]}" --output "$folder/foreign" --resume 2>&1) && fail 'resumed from a net'
[[ $said == *'no checkpoint of a training'* ]] || fail "a net in the place of a checkpoint is not called so: $said"
"$train" "${options[@]}" --label-smoothing 0 --output "$folder/killed" --resume && fail 'resumed a training with other options'

# A red picture of 2 x 1 pixels.
printf 'BM\x3e\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0\x01\0\0\0\x01\0\x18\0\0\0\0\0\x08\0\0\0' >"$folder/red.bmp"
printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\0\0\xff\0\0' >>"$folder/red.bmp"
said=$("$predict" "$folder/whole/model.safetensors" "$folder/red.bmp" --top 4)
for class in 0 45 90 '135 degrees'; do
  [[ $said == *" $class "*%* ]] || fail "predict does not name $class: $said"
done

said=$("$train" --net resnet19 --output "$folder/none" 2>&1) && fail 'there is no resnet19'
[[ $said == *resnet18* ]] || fail "no net like it is named: $said"
"$predict" "$folder/whole/log.csv" "$folder/red.bmp" && fail 'took a log for a net'
echo 'train and predict: passed'
