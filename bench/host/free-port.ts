/** A port picked by the system. If another process takes it first, the target fails to start with an error. */
export const findFreePort = async (): Promise<number> => {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
};
