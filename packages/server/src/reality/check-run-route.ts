import { RealityCheckPath, RealityCheckRunRequest, Run } from "@presage/contract";
import { bytesOfEpisode } from "../datasets/upload/upload-route.ts";
import { readReferences } from "../evaluators/old-names.ts";
import { keepOpen } from "../http/call.ts";
import { errorResponse, noSuch, response } from "../http/describe.ts";
import { reserveStored } from "../http/memory.ts";
import { reply, route } from "../http/route.ts";
import { exampleRun, toRun } from "../runs/run.ts";
import { toInvalidRequest } from "../runs/runs-route.ts";
import { type CheckRunServices, runOfCheck } from "./check-run.ts";

const exactMatch = { evaluator: "exact-match" };
const example = { ...exampleRun, name: "step 400 in the lab", target: { predictions: "imported" as const } };

const runRealityCheck = route("POST", "/v1/reality-checks/:id/run", {
  needs: "evaluate",
  id: "runRealityCheck",
  tag: "reality",
  summary: "Get a reality check as a run",
  description:
    "Returns the run whose dataset is what really happened and whose predictions are what the simulation said to the same actions, so that a check's steps have the reports, comparisons and exports of runs. It is made when it is first asked for, and anew if it was deleted.",
  params: RealityCheckPath,
  body: RealityCheckRunRequest,
  bodyExample: { evaluators: [exactMatch] },
  responses: {
    "200": response("The run that was made before", Run, example),
    "201": response("The run, which is judged soon", Run, example),
    "409": errorResponse(
      "The check has not ended, or no step was replayed",
      "The reality check is running. Its run is made once it has ended.",
    ),
    ...noSuch("reality check"),
  },
  async handle(services: CheckRunServices, { call, requester, params: { id }, body }) {
    const evaluators = readReferences({ evaluators: body.evaluators ?? [exactMatch] });
    keepOpen(call);
    reserveStored(call.exchange, bytesOfEpisode);
    const wanted = { checkId: id, isWhole: body.after_divergence === true, userId: call.caller.userId };
    const { run, isNew } = await runOfCheck(services, requester, { ...wanted, evaluators }).catch(
      (error: unknown) => {
        throw toInvalidRequest(error, evaluators);
      },
    );
    return isNew ? reply(201, toRun(run)) : reply(200, toRun(run));
  },
});

export const realityRunRoutes = [runRealityCheck];
