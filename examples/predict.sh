#!/bin/sh
# Makes one prediction with curl. Needs a running server and its key in PRESAGE_API_KEY.
set -eu
curl --fail-with-body "${1:-http://127.0.0.1:8080}/v1/predict" \
  --header "X-API-KEY: ${PRESAGE_API_KEY:?set it to the key that npm start printed}" \
  --header 'Content-Type: application/json' \
  --data '{
    "context": {"task_context": "Find something to eat."},
    "interaction": {"state": "You are in the kitchen. The fridge is closed.", "action": "open fridge"},
    "params": {"max_tokens": 64}
  }'
