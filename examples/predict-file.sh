#!/bin/sh
# Predicts the next state for every line of a file, with the configured upstream or the sandbox. Run it again to see that it resumes.
set -eu
cd "$(dirname "$0")"
npx presage predict --file transitions.jsonl --out "${1:-predictions.jsonl}"
