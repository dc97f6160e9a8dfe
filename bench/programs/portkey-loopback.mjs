// Loaded into Portkey's process before its own code. Its start script has an option for the port but not for the host, and
// would listen on all interfaces. Nothing else is changed.
import { Server } from "node:net";

const { listen } = Server.prototype;
Server.prototype.listen = function listenOnLoopback(port, host, ...rest) {
  return listen.call(this, port, host ?? "127.0.0.1", ...rest);
};
