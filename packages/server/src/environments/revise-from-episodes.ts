import { type DatasetFormat, EpisodeSelection, readInstant } from "@presage/contract";
import type { Services } from "../app/services.ts";
import type { UploadedRevision } from "../datasets/upload/upload-revision.ts";
import { keepOpen } from "../http/keep-open.ts";
import { valueError } from "../http/pydantic-issues.ts";
import { readBody } from "../http/read-request.ts";
import { requesterOf } from "../http/requester-of.ts";
import { reserveStored } from "../http/reserve-memory.ts";
import type { CallWithCaller } from "../http/route.ts";
import { InvalidRequestError } from "../http/validate.ts";
import { defined } from "../platform/defined.ts";
import { UploadError } from "../platform/upload-error.ts";
import type { WantedEpisodes } from "./episodes/list-episodes.ts";
import { readEpisodeLines } from "./read-episode-lines.ts";

/** What the steps of an episode take that are read at once. */
const bytesOfEpisode = 1_000_000;

export const noEpisodes = "No episode with a step matches";

/** Stores the steps of the episodes that a request's body names as a revision. */
export async function reviseFromEpisodes(
  { environments, evaluation: { datasets }, settings }: Services,
  call: CallWithCaller,
  { id, format, isAppended }: { id: string; format: DatasetFormat | undefined; isAppended: boolean },
): Promise<UploadedRevision> {
  if (format !== undefined)
    throw new InvalidRequestError([valueError(["query", "format"], "Episodes have no format", format)]);
  const selection = await readBody(call, EpisodeSelection, settings.maxShortBodyBytes);
  keepOpen(call);
  reserveStored(call.exchange, bytesOfEpisode);
  const { maxBytes, floor, quotaBytes, uploads, sweeper } = datasets;
  const { accountId, actor } = requesterOf(call);
  const upload = { accountId, actor, datasetId: id, format: "presage" as const, isGzip: false, isAppended };
  const lines = readEpisodeLines(environments, requesterOf(call), toWantedEpisodes(selection));
  try {
    return await uploads.uploadRevision(
      { ...upload, maxBytes, floor, quotaBytes },
      lines,
      call.request.signal,
    );
  } catch (error) {
    if (!(error instanceof UploadError)) throw error;
    const { line, reason } = error.fault;
    const message = line === undefined ? noEpisodes : reason;
    throw new InvalidRequestError([valueError(["body"], message)]);
  } finally {
    sweeper.schedule();
  }
}

/** Which episodes a body names. */
export function toWantedEpisodes(selection: EpisodeSelection): WantedEpisodes {
  const { environment, revision, split, index, status, outcome, from, to, ids } = selection;
  return defined({
    environment: environment ?? undefined,
    revision: revision ?? undefined,
    split: split ?? undefined,
    position: index ?? undefined,
    status: status ?? undefined,
    outcome: outcome ?? undefined,
    from: from ? readInstant(from) : undefined,
    to: to ? readInstant(to) : undefined,
    ids: ids?.map((id) => id.toLowerCase()),
  });
}
