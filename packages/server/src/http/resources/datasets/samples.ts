import {
  DatasetPath,
  DatasetRevisionQuery,
  DatasetSampleListQuery,
  type DatasetSampleListResponse,
  type DatasetTrajectory,
  DatasetTrajectoryPath,
  defaultSampleLimit,
} from "@presage/contract";
import { exportSamples, pageOfSamples, readTrajectory } from "../../../evaluation/datasets/read-samples.ts";
import { keepOpenForEach } from "../../pipeline/keep-open.ts";
import { reserveStored } from "../../pipeline/reserve-memory.ts";
import { type CallWithCaller, type Route, withCaller } from "../../pipeline/route.ts";
import { readPath, readQuery } from "../../request/read-request.ts";
import { requesterOf } from "../../request/requester-of.ts";
import { logBrokenResponse } from "../../response/log-broken-response.ts";
import { streamList } from "../../response/stream-list.ts";
import { streamTexts } from "../../response/stream-texts.ts";
import type { Services } from "../../services.ts";

/** How much of a list of unknown length is read at once. */
const bytesOfPiece = 1_000_000;

/** Reads of a revision's samples. */
export function sampleRoutes(services: Services, path: string): Route[] {
  const { evaluation } = services;
  return [
    withCaller("GET", `${path}/:id/samples`, async (call) => {
      const { limit, after, ...wanted } = readQuery(call, DatasetSampleListQuery);
      const page = { limit: Number(limit ?? defaultSampleLimit), after: Number(after ?? 0) };
      const found = await pageOfSamples(evaluation, requesterOf(call), wantedRevision(call, wanted), page);
      const name: keyof DatasetSampleListResponse = "data";
      const next = found.next === undefined ? null : String(found.next);
      return await streamList(services, call, name, found.samples, asJson, { next });
    }),
    withCaller("GET", `${path}/:id/trajectories/:trajectory_id`, async (call) => {
      const { trajectory_id } = readPath(call, DatasetTrajectoryPath);
      const wanted = wantedRevision(call, readQuery(call, DatasetRevisionQuery));
      const samples = await readTrajectory(evaluation, requesterOf(call), wanted, trajectory_id);
      const name: keyof DatasetTrajectory = "samples";
      const pieces = { count: 2, maxBytes: bytesOfPiece, read: () => samples };
      return await streamList(services, call, name, pieces, asJson, { trajectory_id });
    }),
    withCaller("GET", `${path}/:id/export`, async (call) => {
      const wanted = wantedRevision(call, readQuery(call, DatasetRevisionQuery));
      const pieces = await exportSamples(evaluation, requesterOf(call), wanted);
      reserveStored(call.exchange, bytesOfPiece);
      const texts = keepOpenForEach(call, toLines(pieces));
      return new Response(await streamTexts(texts, logBrokenResponse(services, call)), {
        headers: {
          "content-type": "application/x-ndjson; charset=utf-8",
          "content-disposition": 'attachment; filename="dataset.jsonl"',
        },
      });
    }),
  ];
}

function wantedRevision(call: CallWithCaller, { revision }: DatasetRevisionQuery) {
  const { id } = readPath(call, DatasetPath);
  return { id, number: revision === undefined ? undefined : Number(revision) };
}

/** Samples are read as JSON. */
function asJson(sample: string): string {
  return sample;
}

async function* toLines(pieces: AsyncIterable<readonly string[]>): AsyncGenerator<string, void> {
  for await (const piece of pieces) yield piece.map((line) => `${line}\n`).join("");
}
