import { ServiceError } from "../../platform/errors.ts";
import { type DiskFloor, refuseShortage } from "../../platform/storage/disk-floor.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { gunzip } from "./gunzip.ts";
import { type RawLine, splitLines } from "./split-lines.ts";

const maxLineBytes = 16 * 1024 * 1024;
/** How much is stored before the next look at the disk. */
const bytesPerLook = 16 * 1024 * 1024;

export interface UploadLimits {
  /** Decompressed. */
  maxBytes: number;
  /** Absent: the data is not on a disk of this machine. */
  floor: DiskFloor | undefined;
}

/** The lines of an uploaded body as they arrive, several at a time. */
export function uploadedLines(
  database: Database,
  body: AsyncIterable<Uint8Array>,
  { isGzip, ...limits }: UploadLimits & { isGzip: boolean },
): AsyncGenerator<RawLine[], void> {
  return splitLines(within(database, isGzip ? gunzip(body) : body, limits), maxLineBytes);
}

async function* within(
  database: Database,
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, floor }: UploadLimits,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  let lookAtBytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    if (bytes > lookAtBytes) {
      await refuseShortage(database, floor);
      lookAtBytes = bytes + bytesPerLook;
    }
    yield chunk;
  }
}

function tooLarge(maxBytes: number): ServiceError {
  const message = `The upload is larger than ${maxBytes} bytes (PRESAGE_MAX_DATASET_BYTES), decompressed.`;
  return new ServiceError("body_too_large", message);
}
