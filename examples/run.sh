#!/bin/sh
# Measures how accurate the predictions of the configured upstream, or of the sandbox, are, compared with the most common next states.
set -eu
samples="$(dirname "$0")/household.jsonl"
npx presage run --dataset "$samples" --name "model $$" --evaluator exact-match --evaluator state-change
npx presage run --dataset "$samples" --name "most-frequent $$" --baseline most-frequent \
  --evaluator exact-match --evaluator state-change
npx presage compare "most-frequent $$" "model $$"
