// Keeps the page up to date by server-sent events, which bring what is in <main>. Elements that
// are there stay, so that selection, focus and what is open are not lost.
'use strict'
{
  const main = document.getElementById('main')
  const live = document.getElementById('live')
  const button = document.getElementById('pause')
  let source = null
  let paused = false

  const attributes = (to, from) => {
    for (const { name } of [...to.attributes]) {
      if (!from.hasAttribute(name) && name !== 'open') to.removeAttribute(name)
    }
    for (const { name, value } of from.attributes) {
      if (to.getAttribute(name) !== value) to.setAttribute(name, value)
    }
  }
  const alike = (a, b) => a.nodeName === b.nodeName && (a.id || '') === (b.id || '')

  // children makes those of to equal to those of from.
  const children = (to, from) => {
    let at = to.firstChild
    for (const wanted of [...from.childNodes]) {
      let found = at
      while (found && !alike(found, wanted)) found = wanted.id ? found.nextSibling : null
      if (!found) {
        to.insertBefore(document.importNode(wanted, true), at)
        continue
      }
      while (at !== found) {
        const next = at.nextSibling
        at.remove()
        at = next
      }
      if (found.nodeType === Node.ELEMENT_NODE) {
        attributes(found, wanted)
        children(found, wanted)
      } else if (found.nodeValue !== wanted.nodeValue) {
        found.nodeValue = wanted.nodeValue
      }
      at = found.nextSibling
    }
    while (at) {
      const next = at.nextSibling
      at.remove()
      at = next
    }
  }

  const status = text => { if (live.textContent !== text) live.textContent = text }

  const open = () => {
    if (source || paused || document.hidden) return
    source = new EventSource(document.body.dataset.events)
    source.addEventListener('main', e => {
      const parsed = new DOMParser().parseFromString('<main>' + JSON.parse(e.data) + '</main>', 'text/html')
      children(main, parsed.querySelector('main'))
      status('live')
    })
    source.addEventListener('gone', e => {
      close()
      paused = true
      button.hidden = true
      status(JSON.parse(e.data))
    })
    source.onerror = () => status('not connected')
  }
  const close = () => {
    if (source) source.close()
    source = null
  }

  button.hidden = false
  button.onclick = () => {
    paused = !paused
    button.textContent = paused ? 'Resume updates' : 'Pause updates'
    if (paused) {
      close()
      status('not updated')
    } else {
      open()
    }
  }
  // The title and the icon say whether something is wrong, also of a window that is hidden and has no stream.
  let title = document.title
  const look = async () => {
    if (paused) return
    try {
      const text = await (await fetch(location.href, { cache: 'no-store' })).text()
      const fresh = new DOMParser().parseFromString(text, 'text/html')
      const icon = fresh.querySelector('link[rel=icon]')
      if (!icon) throw new Error('it is not one of these pages')
      document.title = title = fresh.title
      const now = document.querySelector('link[rel=icon]')
      if (now.getAttribute('href') !== icon.getAttribute('href')) now.replaceWith(icon)
    } catch {
      document.title = '(not connected) ' + title
    }
  }
  setInterval(look, 30_000)

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      close()
    } else {
      open()
      look()
    }
  })
  open()
}
