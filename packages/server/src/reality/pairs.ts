import { maxRealityPairs, RealityCheckRequest, RealityPair, type RealityPairsQuery } from "@presage/contract";
import type { z } from "zod";
import { atLine, checkLine, createJsonLineReader, gunzip, splitLines } from "../datasets/upload/lines.ts";
import type { CallWithCaller } from "../http/call.ts";
import { receiveUpload } from "../http/receive-upload.ts";
import { validate } from "../http/validate.ts";
import { InvalidFieldError, UploadError } from "../platform/errors.ts";
import { nowMicros } from "../platform/storage/columns.ts";
import type { RealityEpisodesTable } from "../platform/storage/schema/reality.ts";

/** A check of known pairs, whose body has a line for each and whose query what is beside them; undefined for another body. */
export async function readPairLines(
  call: CallWithCaller,
  { environment_revision, false_success_limit, ...named }: z.infer<typeof RealityPairsQuery>,
): Promise<RealityCheckRequest | undefined> {
  if (!call.request.headers.get("content-type")?.startsWith("application/x-ndjson")) return undefined;
  const wanted: RealityCheckRequest = {
    ...named,
    pairs: await readPairs(call),
    ...(environment_revision !== undefined && { environment_revision: Number(environment_revision) }),
    ...(false_success_limit !== undefined && { false_success_limit: Number(false_success_limit) }),
  };
  return validate(RealityCheckRequest, wanted, "body");
}

async function readPairs(call: CallWithCaller): Promise<RealityPair[]> {
  return await receiveUpload(call, async (body, { isGzip }) => {
    const readJson = createJsonLineReader();
    const pairs: RealityPair[] = [];
    for await (const lines of splitLines(isGzip ? gunzip(body) : body)) {
      for (const line of lines) {
        const value = atLine(line.number, () => readJson(line));
        if (value === undefined) continue;
        if (pairs.length === maxRealityPairs)
          throw new UploadError({
            line: line.number,
            path: [],
            reason: `A check has at most ${maxRealityPairs} pairs`,
          });
        pairs.push(atLine(line.number, () => checkLine(RealityPair, value)));
      }
    }
    return pairs;
  });
}

/** Throws if two pairs are of one task, episode and policy. */
export function refuseRepeated(pairs: readonly RealityPair[]): void {
  const seen = new Map<string, number>();
  for (const [index, { task_id, episode_id, policy }] of pairs.entries()) {
    const key = JSON.stringify([task_id, episode_id ?? null, policy ?? null]);
    const before = seen.get(key);
    if (before !== undefined)
      throw new InvalidFieldError(
        ["pairs", index],
        `The same task, episode and policy are in pair ${before + 1}`,
      );
    seen.set(key, index);
  }
}

/** A pair as a row of its check. */
export function toRow(
  check_id: string,
  position: number,
  { task_id, episode_id, policy, simulated, real, replayed }: RealityPair,
): RealityEpisodesTable {
  const flag = (value: boolean) => (value ? 1 : 0);
  return {
    check_id,
    position,
    task_id,
    episode_id: episode_id ?? null,
    policy: policy ?? null,
    simulated: flag(simulated),
    real: flag(real),
    replayed: typeof replayed === "boolean" ? flag(replayed) : null,
    simulated_reward: null,
    real_reward: null,
    steps: null,
    diverged_at: null,
    verbs: null,
    checked_at: nowMicros(),
  };
}
