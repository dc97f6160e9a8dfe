/** The system picks it. Another process could take it before its user does; then that user fails to start, loudly. */
export const findFreePort = async (): Promise<number> => {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
};
