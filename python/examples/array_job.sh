#!/bin/sh
# Many images on many machines, in shards, as an array of Slurm's jobs:
#
#     sbatch --array=0-15 array_job.sh IMAGES OUT [--device gpu]
#
# Run it again for what is missing: shards whose results are there end at once. Without Slurm all shards run here, several at a time:
#
#     ./array_job.sh IMAGES OUT [--shards 16] [--jobs 4] [--device cpu|gpu|mixed] [--kill N]
#
# With --kill, N of the shards are ended by signal 9 in the middle; they run again until all have results. At the end it prints how many
# images have results, how many twice, how many none, and one SHA-256 of all results. That is the same whatever computed them, however
# many shards there were, and whatever was ended.
set -eu
here=$(dirname "$(realpath "$0")")
python=${PYTHON:-python3}

images=${1:?a folder with images} out=${2:?a folder for the results}
shift 2
shards=16 jobs=4 device=cpu kills=0
while [ $# -gt 0 ]; do
    case $1 in
    --shards) shards=${2:?a number}; shift ;;
    --jobs) jobs=${2:?a number}; shift ;;
    --device) device=${2:?cpu, gpu or mixed}; shift ;;
    --kill) kills=${2:?a number}; shift ;;
    *) echo "array_job.sh: $1 is not known" >&2; exit 2 ;;
    esac
    shift
done

if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
    exec "$python" "$here/pool_images.py" "$images" "$out" --device "$device" \
        --shard "$((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN))" --of "$SLURM_ARRAY_TASK_COUNT"
fi

result() {
    printf '%s/shard-%05d-of-%05d.json' "$out" "$1" "$shards"
}

# One round starts each shard without a result.
round() {
    running= shard=0 count=0
    while [ "$shard" -lt "$shards" ]; do
        if [ ! -e "$(result "$shard")" ]; then
            where=$device
            if [ "$device" = mixed ]; then
                where=cpu
                [ $((shard % 2)) -eq 0 ] || where=gpu
            fi
            end=
            if [ "$kills" -gt 0 ]; then
                kills=$((kills - 1))
                end="--end-after 1"
                echo "shard $shard is ended in the middle" >&2
            fi
            "$python" "$here/pool_images.py" "$images" "$out" --device "$where" --shard "$shard" --of "$shards" $end &
            running="$running $!"
            count=$((count + 1))
            if [ "$count" -ge "$jobs" ]; then
                for job in $running; do wait "$job" 2>/dev/null || true; done
                running= count=0
            fi
        fi
        shard=$((shard + 1))
    done
    for job in $running; do wait "$job" 2>/dev/null || true; done
}

# Enough rounds for shards that are ended, and an end where one fails each time.
for _ in 1 2 3; do
    round
    if "$python" "$here/pool_images.py" "$images" "$out" --check --of "$shards" >/dev/null; then
        break
    fi
done
exec "$python" "$here/pool_images.py" "$images" "$out" --check --of "$shards"
