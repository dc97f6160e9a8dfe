// Loaded before the page is painted, so that a dark page never flashes white.
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
applyTheme();
prefersDark.addEventListener("change", applyTheme);
// The dashboard changed it, in another tab.
addEventListener("storage", applyTheme);
addEventListener("DOMContentLoaded", start);

/** The dashboard's choice (`packages/web/src/theme.ts`). */
function applyTheme() {
  const theme = localStorage.getItem("presage-theme");
  const isDark = theme === "dark" || (theme !== "light" && prefersDark.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  document.documentElement.classList.toggle("dark-mode", isDark);
}

function start() {
  SwaggerUIBundle({
    url: "/openapi.json",
    dom_id: "#interface",
    deepLinking: true,
    // It would call a server elsewhere.
    validatorUrl: null,
    // Each operation shows its own schemas.
    defaultModelsExpandDepth: -1,
    displayRequestDuration: true,
    // Its colours are hard to read, and it is slow for long responses.
    syntaxHighlight: false,
    plugins: [changeComponents],
    requestInterceptor: authenticate,
  });
}

/**
 * A session's requests that change something must prove that they come from a page of the server. The shown command has a key in place
 * of the session, so that it can be pasted into a terminal.
 */
function authenticate(request) {
  if (Object.keys(request.headers).some((name) => /^(x-api-key|authorization)$/i.test(name))) return request;
  request.curlOptions = ['-H "X-API-KEY: $PRESAGE_API_KEY"'];
  const token = document.querySelector("meta[name=csrf-token]")?.content;
  if (token && request.method !== "GET") {
    request.userFetch = (url, { headers, ...rest }) =>
      fetch(url, { ...rest, headers: { ...headers, "X-CSRF-Token": token } });
  }
  return request;
}

/** What Swagger UI lacks for keyboards, screen readers and this page. */
function changeComponents({ React: { createElement } }) {
  const none = () => () => null;
  return {
    wrapComponents: {
      // The page has a header of its own, and one server.
      InfoContainer: none,
      ServersContainer: none,
      // A link within a button.
      DeepLink:
        () =>
        ({ text }) =>
          createElement("span", null, text),
      TextArea: (Original) => (props) => createElement(Original, { "aria-label": "Request body", ...props }),
      // Names the field; `description` begins with the parameter's name.
      JsonSchemaForm: (Original) => (props) =>
        createElement(
          "label",
          null,
          createElement("span", { className: "unseen" }, props.description),
          createElement(Original, props),
        ),
      // A table, not a region.
      responses: (Original) => (props) => {
        const ref = (element) => element?.querySelector("table[role=region]")?.removeAttribute("role");
        return createElement("div", { ref }, createElement(Original, props));
      },
      // It has no text where a schema has no name.
      JSONSchema202012Accordion: (Original) => (props) =>
        createElement(
          Original,
          props,
          props.children,
          createElement("span", { className: "unseen" }, "details"),
        ),
      CloseIcon: (Original) => (props) =>
        createElement(
          "span",
          null,
          createElement(Original, props),
          createElement("span", { className: "unseen" }, "Close"),
        ),
      // The name must be the text that the button shows.
      Button:
        (Original) =>
        ({ "aria-label": label, ...props }) =>
          createElement(Original, props),
      authorizationPopup: (Original) => (props) =>
        createElement(
          "div",
          { role: "dialog", "aria-modal": true, "aria-label": "Authorize" },
          createElement(Original, props),
        ),
    },
  };
}
