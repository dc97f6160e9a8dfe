import {
  DatasetPath,
  DatasetRevisionQuery,
  DatasetSampleListQuery,
  type DatasetSampleListResponse,
  type DatasetTrajectory,
  DatasetTrajectoryListQuery,
  type DatasetTrajectoryListResponse,
  DatasetTrajectoryPath,
  DatasetTrajectoryQuery,
  defaultSampleLimit,
  defaultTrajectoryLimit,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import { type CallWithCaller, keepOpenForEach, requesterOf } from "../http/call.ts";
import { reservePiece } from "../http/memory.ts";
import { readKnownQuery, readPath } from "../http/request.ts";
import { logBrokenResponse, streamList, streamTexts } from "../http/response.ts";
import { type Route, withCaller } from "../http/route.ts";
import { exportSamples, pageOfSamples, readTrajectory } from "./samples.ts";
import { listTrajectories } from "./trajectories.ts";

/** Reads of a revision's samples. */
export function sampleRoutes(services: Services, path: string): Route[] {
  const { evaluation } = services;
  return [
    withCaller("GET", `${path}/:id/samples`, "read", async (call) => {
      const { limit, after, ...wanted } = readKnownQuery(call, DatasetSampleListQuery);
      const page = { limit: Number(limit ?? defaultSampleLimit), after: Number(after ?? 0) };
      const found = await pageOfSamples(evaluation, requesterOf(call), wantedRevision(call, wanted), page);
      const name: keyof DatasetSampleListResponse = "data";
      const next = found.next === undefined ? null : String(found.next);
      return await streamList(services, call, name, found.samples, asJson, { next });
    }),
    withCaller("GET", `${path}/:id/trajectories`, "read", async (call) => {
      const {
        limit,
        order = "trajectory_id",
        after,
        ...query
      } = readKnownQuery(call, DatasetTrajectoryListQuery);
      const { trajectories, next } = await listTrajectories(
        evaluation,
        requesterOf(call),
        wantedRevision(call, query),
        {
          // Without a text, all have it.
          contains: query.contains === "" ? undefined : query.contains,
          order,
          limit: Number(limit ?? defaultTrajectoryLimit),
          after: after === undefined ? undefined : readCursor(after),
        },
      );
      const name: keyof DatasetTrajectoryListResponse = "data";
      return await streamList(services, call, name, trajectories, JSON.stringify, {
        next: next === undefined ? null : `${next.steps}.${next.trajectoryId}`,
      });
    }),
    withCaller("GET", `${path}/:id/trajectories/:trajectory_id`, "read", async (call) => {
      const { trajectory_id } = readPath(call, DatasetTrajectoryPath);
      const { limit, after, ...query } = readKnownQuery(call, DatasetTrajectoryQuery);
      const wanted = { ...wantedRevision(call, query), trajectoryId: trajectory_id };
      const { samples, next } = await readTrajectory(evaluation, requesterOf(call), wanted, {
        limit: limit === undefined ? undefined : Number(limit),
        after: Number(after ?? -1),
      });
      const name: keyof DatasetTrajectory = "samples";
      return await streamList(services, call, name, samples, asJson, {
        trajectory_id,
        next: next === undefined ? null : String(next),
      });
    }),
    withCaller("GET", `${path}/:id/export`, "read", async (call) => {
      const wanted = wantedRevision(call, readKnownQuery(call, DatasetRevisionQuery));
      const pieces = await exportSamples(evaluation, requesterOf(call), wanted);
      reservePiece(call.exchange);
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

/** The place in a list of trajectories that a cursor, checked by its schema, stands for. */
function readCursor(cursor: string): { steps: number; trajectoryId: string } {
  const end = cursor.indexOf(".");
  return { steps: Number(cursor.slice(0, end)), trajectoryId: cursor.slice(end + 1) };
}

/** A sample is stored, and read, as the JSON that it is sent as. */
function asJson(sample: string): string {
  return sample;
}

async function* toLines(pieces: AsyncIterable<readonly string[]>): AsyncGenerator<string, void> {
  for await (const piece of pieces) yield piece.map((line) => `${line}\n`).join("");
}
