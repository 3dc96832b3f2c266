#!/bin/bash
# A run on Slurm: Ray begins on every node of the job, and the run on the first. See docs/guide/cluster.md.
#
#   sbatch slurm.sh
#   sbatch slurm.sh        # again, if the job ended before the run did: it goes on
#SBATCH --job-name=sociable
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --exclusive
#SBATCH --time=24:00:00
set -euo pipefail

# A disk that all attempts see, and no network file system if there is a choice.
RUN_FOLDER=${RUN_FOLDER:-$SCRATCH/a-run}
MODEL=${MODEL:-openai-compatible/qwen2.5-7b-instruct@http://model-server:8000/v1}
source "${ENVIRONMENT:-$HOME/sociable/.venv}/bin/activate"

if [ -e "$RUN_FOLDER/manifest.json" ]; then
    command=(sociable resume "$RUN_FOLDER" --cluster ray)
else
    command=(sociable run stss --model "$MODEL" --cluster ray --out "$RUN_FOLDER")
fi

# A token for Ray, which all nodes read from the home they share: without it anybody in the network could run code on them.
ray get-auth-token --generate > /dev/null
export RAY_AUTH_MODE=token

head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
# --exclusive above: at its end symmetric-run ends every process of Ray that this user has on these nodes.
srun ray symmetric-run --address "$head:6379" --min-nodes "$SLURM_JOB_NUM_NODES" --num-cpus "$SLURM_CPUS_PER_TASK" -- "${command[@]}"
