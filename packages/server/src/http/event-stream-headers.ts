export const eventStreamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // nginx would collect events until its buffer is full.
  "x-accel-buffering": "no",
};
