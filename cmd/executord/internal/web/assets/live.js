// Keeps what is marked by data-live up to date, while the page is visible and nothing in it is selected or focused.
"use strict";
const live = document.querySelector("[data-live]");
async function refresh() {
	const busy = document.hidden || String(getSelection()) || live.contains(document.activeElement);
	if (!busy) {
		try {
			const answer = await fetch(location.href, {headers: {Accept: "text/html"}});
			if (answer.ok && !answer.redirected) {
				const page = new DOMParser().parseFromString(await answer.text(), "text/html");
				const fresh = page.querySelector("[data-live]");
				if (fresh && fresh.innerHTML !== live.innerHTML) live.replaceChildren(...fresh.childNodes);
			}
		} catch { /* the daemon may be back at the next look */ }
	}
	setTimeout(refresh, 2000);
}
if (live) setTimeout(refresh, 2000);
