// Keeps a page up to date by server-sent events: "main" has what is in <main>, "point" has the newest values of the
// charts. What a reader has open, selected or typed stays.
import uPlot from '../npm/uplot-1.6.32.js'
import {Idiomorph} from '../npm/idiomorph-0.8.0.js'

const main = document.getElementById('main')
const live = document.getElementById('live')
const button = document.getElementById('pause')
const root = document.documentElement
const keep = {
  get(name) { try { return localStorage['executor.' + name] } catch { return undefined } },
  set(name, value) { try { localStorage['executor.' + name] = value } catch { /* it is not kept */ } },
}
const say = text => { if (live.textContent !== text) live.textContent = text }

// Charts. A canvas knows neither var() nor light-dark(): an element has to resolve them.
const probe = document.createElement('i')
probe.hidden = true
document.body.append(probe)
const color = name => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color }
// Times are those of the zone of the page, as the texts of the server: by its name, or by what it is off now.
const {zone, offset} = document.body.dataset
const named = zone && zone !== 'job' && new Intl.DateTimeFormat('en-GB', {timeStyle: 'medium', timeZone: zone})
const clock = x => named ? named.format(x * 1000) : new Date((x + +offset) * 1000).toISOString().slice(11, 19)
const faint = c => c.replace('rgb(', 'rgba(').replace(')', ', .12)')
const charts = new Map() // by the IDs of their figures
const section = document.getElementById('charts')
const seen = section ? JSON.parse(section.dataset.points) : [[]] // the times, and the values of each series
const hole = 90 // seconds between two points without a line

// A figure names its lines: each has the number of its series, the name of its color, and a name.
const lines = el => el.dataset.series.split('|').map(text => text.split(' ')).map(([n, c, ...name]) => ({n: +n, c, name: name.join(' ')}))
const columns = el => [seen[0], ...lines(el).map(line => seen[1 + line.n] ?? [])]

// Numbers as short as fit beside a chart, and durations in their unit.
const brief = y => y >= 1e4 ? Intl.NumberFormat('en', {notation: 'compact'}).format(y) : y.toLocaleString('en', {maximumSignificantDigits: 3})
const took = ms => {
  const [unit, name] = [[864e5, 'd'], [36e5, 'h'], [6e4, 'min'], [1e3, 's'], [1, 'ms'], [1e-3, 'µs']].find(([unit]) => ms >= unit) ?? [1, 'ms']
  return brief(ms / unit) + '\xa0' + name
}

const chart = el => {
  charts.get(el.id)?.destroy()
  const box = el.querySelector('.plot') ?? document.createElement('div')
  box.className = 'plot'
  el.insertBefore(box, el.querySelector('details'))
  const axis = {stroke: color('soft'), grid: {stroke: color('line'), width: 1}, ticks: {show: false}, font: '12px system-ui'}
  const size = () => ({width: box.clientWidth, height: 170})
  const time = x => x == null ? '–' : clock(x)
  const short = (u, xs) => xs.map(x => u.scales.x.max - u.scales.x.min < 300 ? time(x) : time(x).slice(0, 5))
  const says = el.dataset.unit === 'ms' ? took : brief
  el.querySelectorAll(':scope > :is(svg, .key)').forEach(drawn => drawn.remove())
  const u = new uPlot({
    ...size(), padding: [8, 28, 0, 0], cursor: {drag: {x: true, y: false}}, tzDate: x => zone && zone !== 'job' ? uPlot.tzDate(new Date(x * 1000), zone) : new Date((x + +offset + new Date().getTimezoneOffset() * 60) * 1000), axes: [{...axis, space: 80, values: short}, {...axis, size: 58, values: (_, ys) => ys.map(says)}],
    scales: {x: {time: true}, y: {range: (_, low, high) => [0, high > 0 ? high * 1.1 : 1]}},
    series: [{label: 'Time', value: (_, x) => time(x)}, ...lines(el).map(line => {
      const stroke = color(line.c)
      return {label: line.name, stroke, width: 1.5, fill: line.c === 'c1' ? faint(stroke) : undefined, points: {show: false}, value: (_, y) => y == null ? '–' : says(y)}
    })],
  }, columns(el), box)
  new ResizeObserver(() => u.setSize(size())).observe(box)
  charts.set(el.id, u)
}
const draw = all => document.querySelectorAll('[data-series]').forEach(el => { if (all || !charts.has(el.id)) chart(el) })

// point adds the newest values: a time, and the values of each series.
const point = ([x, ...values]) => {
  const last = seen[0].at(-1)
  if (!section || last >= x) return
  const add = (x, values) => { seen[0].push(x); values.forEach((v, i) => (seen[i + 1] ??= []).push(v)) }
  if (x - last > hole) add(last + 1, values.map(() => null))
  add(x, values)
  const old = seen[0].findIndex(t => t >= x - section.dataset.span)
  if (old > 0) seen.forEach(column => column.splice(0, old))
  for (const [id, u] of charts) {
    const el = document.getElementById(id)
    if (el) u.setData(columns(el))
  }
}

const morph = html => {
  const out = document.getElementById('output')
  const atEnd = out && out.scrollHeight - out.scrollTop - out.clientHeight < 40
  Idiomorph.morph(main, html, {
    morphStyle: 'innerHTML', restoreFocus: true,
    callbacks: {
      beforeNodeMorphed: (from, to) => !(from.nodeType === 1 && from.matches('input, select, textarea, [data-series]')
        && to.nodeType === 1 && from.id === to.id),
      beforeAttributeUpdated: (name, el) => !(name === 'open' && el.nodeName === 'DETAILS'),
    },
  })
  if (atEnd) out.scrollTop = out.scrollHeight
  draw()
}

let source, paused = keep.get('paused') === 'yes'

const open = () => {
  if (source || paused || document.hidden || !document.body.dataset.events) return
  const still = document.querySelector('[data-still]') // the order in which rows stay
  source = new EventSource(document.body.dataset.events + (still ? '&still=' + encodeURIComponent(still.dataset.still) : ''))
  source.addEventListener('main', e => { morph(JSON.parse(e.data)); say('live') })
  source.addEventListener('point', e => point(JSON.parse(e.data)))
  source.addEventListener('gone', e => { close(); paused = true; button.hidden = true; say(JSON.parse(e.data)) })
  source.onerror = () => say('not connected')
}
const close = () => { source?.close(); source = undefined }

const show = () => {
  button.firstChild.data = paused ? 'Resume' : 'Pause'
  button.title = (paused ? 'Resume' : 'Pause') + ' updates'
  if (paused) say('not updated')
}
if (document.body.dataset.events) {
  button.hidden = false
  button.onclick = () => {
    paused = !paused
    keep.set('paused', paused ? 'yes' : 'no')
    show()
    paused ? close() : open()
  }
  show()
}
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return close()
  open()
  look()
})

// The title and the icon say whether something is wrong, also of a window that is hidden: such a one has no stream.
let title = document.title
const look = async () => {
  if (paused || !document.body.dataset.events) return
  try {
    const text = await (await fetch(location.href, {cache: 'no-store'})).text()
    const fresh = new DOMParser().parseFromString(text, 'text/html')
    const icon = fresh.querySelector('link[rel=icon]')
    if (!icon) throw 0 // it is not one of these pages
    document.title = title = fresh.title
    const [banner, says] = [document, fresh].map(d => d.getElementById('banner'))
    if (banner && says && banner.innerHTML !== says.innerHTML) banner.replaceChildren(...says.childNodes)
    const now = document.querySelector('link[rel=icon]')
    if (now.getAttribute('href') !== icon.getAttribute('href')) now.replaceWith(icon)
  } catch { document.title = '(not connected) ' + title }
}
setInterval(look, 30_000)
addEventListener('pagehide', close)
addEventListener('pageshow', open)

// The colours: those of the system, or the other ones.
const scheme = document.getElementById('scheme')
const dark = matchMedia('(prefers-color-scheme: dark)')
const colours = () => {
  const chosen = keep.get('scheme')
  if (chosen) root.dataset.scheme = chosen
  else delete root.dataset.scheme
  const isDark = chosen ? chosen === 'dark' : dark.matches
  scheme.title = scheme.ariaLabel = isDark ? 'Light colors' : 'Dark colors'
  scheme.onclick = () => { keep.set('scheme', isDark ? 'light' : 'dark'); colours() }
  draw(true)
}
scheme.hidden = false
dark.addEventListener('change', colours)

// A box that selects all rows of its form.
document.addEventListener('change', e => {
  if (e.target.id !== 'all') return
  e.target.form.querySelectorAll('input[name=id]').forEach(box => { box.checked = e.target.checked })
})

// The zone of the browser, beside the others.
const zones = document.querySelector('#zones div')
const mine = Intl.DateTimeFormat().resolvedOptions().timeZone
if (zones && mine && ![...zones.children].some(a => a.textContent === mine)) {
  const link = zones.querySelector('a').cloneNode()
  const to = new URL(link.href)
  to.searchParams.set('in', mine)
  link.href = to.href
  link.textContent = 'mine, ' + mine
  if (zone !== mine) { link.removeAttribute('aria-current'); zones.append(link) }
}

// Keys: rows are those whose header is a link.
const keys = document.createElement('dialog')
keys.id = 'keys'
keys.innerHTML = '<form method="dialog"><h2>Keys</h2><dl></dl><button>Close</button></form>'
const help = {
  '/': 'find', j: 'next row', k: 'row before', Enter: 'open the row', r: 'run the job of the row, or of the page, now', '?': 'show these keys',
}
for (const [key, text] of Object.entries(help)) {
  const term = document.createElement('dt'), says = document.createElement('dd')
  term.append(Object.assign(document.createElement('kbd'), {textContent: key}))
  says.textContent = text
  keys.querySelector('dl').append(term, says)
}
document.body.append(keys)
const row = () => document.activeElement.closest('tbody tr')
const step = by => {
  const rows = [...document.querySelectorAll('main tbody tr:has(> th a)')].filter(r => r.checkVisibility())
  const at = rows.indexOf(row())
  rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)]?.querySelector('th a').focus()
}
const act = {
  '/': () => main.querySelector('form[role=search] input:is([type=search], [type=text])')?.focus(),
  j: () => step(1), k: () => step(-1),
  r: () => (row() ?? main).querySelector("a:is([href^='act?do=run-now&'], [href^='run-now?'])")?.click(),
  '?': () => keys.showModal(),
}
document.addEventListener('keydown', e => {
  if (e.ctrlKey || e.altKey || e.metaKey || e.target.matches('input, select, textarea') || keys.open || !Object.hasOwn(act, e.key)) return
  e.preventDefault()
  act[e.key]()
})

const current = document.querySelector('header nav [aria-current]') // it is seen among the tabs
if (current) {
  const tabs = current.parentElement
  tabs.scrollLeft = current.offsetLeft - tabs.offsetLeft - tabs.clientWidth / 2 + current.offsetWidth / 2
}
const out = document.getElementById('output')
if (out) out.scrollTop = out.scrollHeight
const lanes = document.getElementById('timeline') // now is in its middle
if (lanes) lanes.scrollLeft = (lanes.scrollWidth - lanes.clientWidth) / 2
const graph = document.querySelector('.graph') // the job is in its middle
if (graph) {
  const box = graph.getBoundingClientRect(), job = graph.querySelector('.here').getBoundingClientRect()
  graph.scrollLeft = (job.left + job.right - box.left - box.right) / 2
}
colours()
open()
