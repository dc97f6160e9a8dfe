const units = ["kB", "MB", "GB"] as const;

/** 840 bytes, 12.3 kB, 1.0 MB */
export function formatSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  let size = bytes / 1_000;
  let index = 0;
  while (size >= 999.95 && index < units.length - 1) {
    size /= 1_000;
    index += 1;
  }
  return `${size.toFixed(1)} ${units[index]}`;
}
