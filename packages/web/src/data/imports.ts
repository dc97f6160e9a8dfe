import type { ImportOptions, Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";

const importsKey = ["imports"];

/** A file of the user's, under a name of its own: others may be called the same. */
export interface ChosenFile {
  id: string;
  file: File;
}

/** The layouts that the server reads. They change with its version only. */
export function importFormatsQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...importsKey, "formats"],
    queryFn: ({ signal }) => presage.imports.listFormats({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** A slow connection sends the beginning of a large file within this time. */
const timeoutMs = 30 * 60_000;
const cacheMs = 60_000;

/** What an upload of a file would store. */
export function importPreviewQuery(presage: Presage, { id, file }: ChosenFile, options: ImportOptions) {
  return queryOptions({
    queryKey: [...importsKey, "preview", id, options],
    queryFn: async ({ signal }) =>
      presage.imports.preview(await beginningOf(file), { ...options, source: file.name, signal, timeoutMs }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: cacheMs,
    structuralSharing: false,
    // The file may have changed since it was chosen, which only the user can mend.
    refetchInterval: false,
    refetchOnWindowFocus: false,
  });
}

/** The server reads 64 MiB of a preview, unpacked; what cannot be compressed is a little longer when packed. */
const previewBytes = 65 * 1024 * 1024;
const zipMark = "PK";

/** As much of a file as its preview needs. A zip is read from its end. */
async function beginningOf(file: File): Promise<Blob> {
  if (file.size <= previewBytes || (await file.slice(0, zipMark.length).text()) === zipMark) return file;
  return file.slice(0, previewBytes);
}
