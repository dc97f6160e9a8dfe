import { dlopen } from "bun:ffi";
import { readdirSync } from "node:fs";

/** How many connections the kernel may hold until they are accepted; it caps it at net.core.somaxconn. */
const backlog = 4096;
/** Of Linux, on each processor that Bun runs on. */
const solSocket = 1;
const soAcceptConn = 30;

/**
 * Lets the kernel hold more new connections than the 512 that Bun asks for: trainers open thousands at once, and those beyond it are reset
 * after seconds. On Linux a second `listen` on a socket changes just that. Elsewhere, and without a C library, it does nothing.
 */
export function widenBacklog(): void {
  if (process.platform !== "linux") return;
  try {
    const library = dlopen("libc.so.6", {
      getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
      listen: { args: ["i32", "i32"], returns: "i32" },
    });
    const { getsockopt, listen } = library.symbols;
    const isListening = new Int32Array(1);
    for (const fd of readdirSync("/proc/self/fd").map(Number)) {
      isListening[0] = 0;
      getsockopt(fd, solSocket, soAcceptConn, isListening, new Uint32Array([isListening.byteLength]));
      if (isListening[0] === 1) listen(fd, backlog);
    }
    library.close();
  } catch {
    // The server works with the smaller one.
  }
}
