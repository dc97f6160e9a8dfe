export const steps = 20;

let started = 0;

/** A real environment that answers immediately and differs in every seventh episode. It has its own thread, apart from the measurement. */
const serve = () =>
  Bun.serve({
    port: 0,
    routes: {
      "/v1/episodes": {
        POST: () => Response.json({ episode_id: `e${started++}`, observation: "You are in a room." }),
      },
      "/v1/episodes/:id/step": {
        POST: ({ params: { id } }) => {
          const isOther = Number(id.slice(1)) % 7 === 0;
          const observation = isOther ? "Nothing happens." : "The lamp is on.";
          const reward = isOther ? 0 : 1 / steps;
          return Response.json({ observation, reward, terminated: false, truncated: false });
        },
      },
      "/v1/episodes/:id": { DELETE: () => new Response(null, { status: 204 }) },
    },
  });

if (!Bun.isMainThread) postMessage(serve().url.origin);
