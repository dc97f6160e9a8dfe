import { predictBody } from "../payload.ts";
import type { PredictionsPlan } from "./plan-predictions.ts";
import type { PredictionsResult } from "./run-predictions.ts";
import {
  writeInFlightTable,
  writeLoadTable,
  writeMemoryTable,
  writeRatioTable,
  writeStartTable,
} from "./write-tables.ts";

export const writePredictions = (result: PredictionsResult, plan: PredictionsPlan): string => `
- One run, one machine; upstream, target and load generator share its cores. Everything is on loopback.
- Presage: key check, rate limit (too high to be reached), metrics and a log line for each request, SQLite. nginx: one
  worker, HTTP/1.1 with kept-alive connections on both sides, access log on. Portkey: headless, in production mode.
- The bare Bun proxy only parses and serialises requests and responses, with \`Bun.serve\` and \`fetch\`:
  it shows the cost of the runtime.
- The request is one prediction of ${(predictBody.length / 1000).toFixed(1)} KB: \`/v1/predict\` for Presage, the same prompt already composed to
  \`/v1/chat/completions\` for the others. Before the load, one request to each target proves that the same prompt
  reaches the upstream.
- The upstream responds with a constant completion after the delay. It counts requests: a figure is invalid if there were fewer
  than the client got responses, or more than the client sent.
- Load by wrk with one thread, ${plan.rounds} rounds; targets take turns, in a different order in each round. Every
  figure is the median of the rounds, with the range in parentheses; ratios and differences are taken within a round.
- wrk corrects its percentiles for waiting time hidden by stalled connections ("coordinated omission").
- Processor time is user + system time of the process and its children, as counted by the kernel, divided by the number of
  requests that reached the upstream; – if less than 0.2 s was used.
- Memory is in MB (10⁶ bytes), RSS of the process and its children; peaks are the kernel's high-water marks.

### No delay at the upstream
${writeLoadTable(result, plan, 0)}

### 50 ms at the upstream
${writeLoadTable(result, plan, 50)}

### Presage compared with the others
${writeRatioTable(result, plan)}

### Memory, MB
${writeMemoryTable(result)}

### ${plan.inFlight.rollouts.toLocaleString("en-US")} predictions in flight, the upstream takes 1 s
This many rollouts start at the same moment, each on its own socket, and send ${plan.inFlight.steps} steps one after the other,
to a new process. The first step includes connecting.

${writeInFlightTable(result)}

### From start to ready
Median of ${plan.startRuns} runs, from the spawn until \`GET /ready\` answers 200 (for the others, until the first response).

${writeStartTable(result)}
`;
