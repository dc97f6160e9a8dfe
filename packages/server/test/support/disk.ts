/** Makes a folder its own in-memory disk. Returns a function that ends it, or undefined: only root may, and in a container not even root. */
export function mountDisk(folder: string, size: string): (() => void) | undefined {
  const { success } = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]);
  return success ? () => Bun.spawnSync(["umount", "--lazy", folder]) : undefined;
}
