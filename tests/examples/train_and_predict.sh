#!/usr/bin/env bash
# train_and_predict.sh TRAIN PREDICT MNIST: a training that is killed goes on bit for bit, and its net names what pictures show.
set -euo pipefail
train=$1 predict=$2 mnist=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  printf 'train_and_predict.sh: %s\n' "$1" >&2
  exit 1
}
losses() { cut -d, -f1-4,6- "$1/log.csv"; }  # without the speed

scaler() { grep -ao 'scaler[^]]*]' "$1/checkpoint.safetensors"; }

# Dropout, mixup, cutmix and averaged weights: every kind of random number and of state that a checkpoint holds.
options=(--net squeezenet1_1 --fake-size 96 --batch-size 8 --epochs 6 --mixup 0.2 --cutmix 1 --ema 0.9 --clip 1 --accumulate 2
  --checkpoint-every 2 --log-interval 2 --lr 1e-3)

goes_on_after_a_kill() {  # WHOLE KILLED OPTIONS…
  local whole=$1 killed=$2
  shift 2
  "$train" "$@" --output "$whole"
  "$train" "$@" --output "$killed" >/dev/null &
  while [[ ! -e $killed/checkpoint.previous ]]; do
    kill -0 $! || fail 'the training ended before it could be killed'
    sleep 0.01
  done
  kill -KILL $!
  wait $! || true
  [[ ! -e $killed/model.safetensors ]] || fail 'the training was killed too late to tell'
  "$train" "$@" --output "$killed" --resume
  [[ $(losses "$whole") == "$(losses "$killed")" ]] || fail 'other losses after the kill'
  [[ $(scaler "$whole") == "$(scaler "$killed")" ]] || fail 'another scale of the loss after the kill'
  cmp "$whole/model.safetensors" "$killed/model.safetensors"
}
goes_on_after_a_kill "$folder/whole" "$folder/killed" "${options[@]}"
goes_on_after_a_kill "$folder/whole-fp16" "$folder/killed-fp16" "${options[@]}" --amp fp16
cmp -s "$folder/whole/model.safetensors" "$folder/whole-fp16/model.safetensors" && fail '--amp changes nothing'

# What was damaged since is told, and the one before is taken; what is no checkpoint is called so.
head -c 5000 "$folder/killed/checkpoint.safetensors" >"$folder/part" && mv "$folder/part" "$folder/killed/checkpoint.safetensors"
said=$("$train" "${options[@]}" --output "$folder/killed" --resume 2>&1) || fail "a damaged checkpoint ended the training: $said"
[[ $said == *'going on from the one before'* ]] || fail "nothing is said of a damaged checkpoint: $said"
[[ $(losses "$folder/whole") == "$(losses "$folder/killed")" ]] || fail 'other losses after the damage'
mkdir "$folder/foreign" && cp "$folder/whole/model.safetensors" "$folder/foreign/checkpoint.safetensors"
said=$("$train" "${options[@]}" --output "$folder/foreign" --resume 2>&1) && fail 'resumed from a net'
[[ $said == *'no checkpoint: it names no part'* ]] || fail "a net in the place of a checkpoint is not called so: $said"
"$train" "${options[@]}" --label-smoothing 0 --output "$folder/killed" --resume && fail 'resumed a training with other options'

# A red picture of 2 x 1 pixels.
printf 'BM\x3e\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0\x01\0\0\0\x01\0\x18\0\0\0\0\0\x08\0\0\0' >"$folder/red.bmp"
printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\0\0\xff\0\0' >>"$folder/red.bmp"
said=$("$predict" "$folder/whole/model.safetensors" "$folder/red.bmp" --top 6)
for class in circle cross diamond ring square triangle; do
  [[ $said == *" $class "*%* ]] || fail "predict does not name $class: $said"
done

printf 'P6 2 1 255\n\xff\0\0\xff\0\0' >"$folder/red.ppm"
[[ $("$predict" "$folder/whole/model.safetensors" "$folder/red.ppm" --top 6) == *"${said#*: }" ]] || fail 'a PPM file is seen otherwise than a BMP file'

# Without arguments, in a folder where nothing is: it trains first, and the next time finds what it left.
mkdir "$folder/empty"
first=$(cd "$folder/empty" && "$predict")
[[ $first == *'epoch 1/1'* && $first == *' of 12 right' ]] || fail "predict without arguments: $first"
second=$(cd "$folder/empty" && "$predict")
[[ $first == *"$second" && $second != *epoch* ]] || fail "predict the second time: $second"
for amp in '' '--amp=bf16' '--amp=fp16'; do
  (cd "$folder/empty" && XDG_CACHE_HOME="$folder/none" "$mnist" --dry-run $amp) || fail "mnist $amp does not start without MNIST"
done
"$train" --dry-run --amp bf16 --output "$folder/bf16" || fail 'train --amp bf16'

# A last batch of one picture is left out, nets get pictures that they take, curves are drawn where there is gnuplot.
mkdir "$folder/bin" && printf '#!/bin/sh\ncat >"%s"\n' "$folder/drawn" >"$folder/bin/gnuplot" && chmod +x "$folder/bin/gnuplot"
PATH=$folder/bin:$PATH "$train" --fake-data --fake-size 33 --epochs 2 --accumulate 2 --optimizer sgd --output "$folder/odd"
[[ $(<"$folder/drawn") == *"title 'top 1'"*'learning rate'* ]] || fail "gnuplot draws $(<"$folder/drawn")"
for net in alexnet vit_b_32; do
  "$train" --net $net --fake-size 4 --batch-size 2 --dry-run --output "$folder/$net" || fail "$net on made pictures"
  "$predict" "$folder/$net/model.safetensors" "$folder/red.bmp" || fail "$net is not read back"
done

# A constant rate goes on for more epochs bit for bit, a cosine does not.
constant=(--schedule constant --fake-size 64 --output "$folder/constant")
"$train" --schedule constant --fake-size 64 --epochs 2 --output "$folder/at-once"
"$train" "${constant[@]}" --epochs 1
"$train" "${constant[@]}" --epochs 2 --resume
[[ $(losses "$folder/at-once") == "$(losses "$folder/constant")" ]] || fail 'other losses after more epochs'
said=$("$train" --fake-size 64 --epochs 3 --output "$folder/constant" --resume 2>&1) && fail 'resumed with another schedule'
[[ $said == *'--schedule was'* ]] || fail "the other option is not named: $said"

refused() {  # WHAT IT SAYS, ARGUMENTS…
  local expected=$1 status=0
  shift
  said=$("$train" "$@" --output "$folder/none" 2>&1) || status=$?
  [[ $status == 2 && $said == *"$expected"* ]] || fail "train $* ends with $status: $said"
}
refused --workers --workers -1
refused --side --side -5
refused --seed --seed -1
refused --mixup --mixup nan
refused '--amp: int8 not in {bf16,fp16}' --amp int8
refused 'Requires at most 1' --fake-data --data "$folder"
refused 'does not tell classes' --net ssdlite320_mobilenet_v3_large
refused 'needs --side 64 or more, in multiples of 32' --net maxvit_t --side 50
refused resnet18 --net resnet19
"$predict" "$folder/whole/log.csv" "$folder/red.bmp" && fail 'took a log for a net'
echo 'train and predict: passed'
