import { join } from "node:path";
import { chatRequest } from "./chat-request.ts";
import type { Launch, Place } from "./target.ts";

// One worker, because Presage is one process. The access log is on, because Presage logs each request too.
// Connections are kept alive on both sides without a request limit, and the upstream pool covers the largest load.
const configFor = ({ port, upstreamOrigin, directory }: Place): string => `
daemon off;
worker_processes 1;
worker_rlimit_nofile 12000;
${process.getuid?.() === 0 ? "user root;" : ""}
pid ${join(directory, "nginx.pid")};
error_log stderr warn;
events { worker_connections 12000; }
http {
  access_log ${join(directory, "access.log")} combined;
  client_body_temp_path ${join(directory, "body")};
  proxy_temp_path ${join(directory, "proxy")};
  fastcgi_temp_path ${join(directory, "fastcgi")};
  uwsgi_temp_path ${join(directory, "uwsgi")};
  scgi_temp_path ${join(directory, "scgi")};
  keepalive_requests 100000000;
  upstream mock {
    server ${new URL(upstreamOrigin).host};
    keepalive 6000;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_read_timeout 120s;
    }
  }
}
`;

export const prepareNginx = async (place: Place): Promise<Launch> => {
  const configFile = join(place.directory, "nginx.conf");
  await Bun.write(configFile, configFor(place));
  const origin = `http://127.0.0.1:${place.port}`;
  return {
    argv: ["nginx", "-p", place.directory, "-c", configFile, "-e", "stderr"],
    readyUrl: `${origin}/v1/models`,
    request: chatRequest(origin),
  };
};
