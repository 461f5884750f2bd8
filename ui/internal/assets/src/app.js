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
const faint = c => c.replace('rgb(', 'rgba(').replace(')', ', .12)')
const charts = new Map() // by the number of the chart
const most = 300

const chart = el => {
  const old = charts.get(el.dataset.chart)
  const data = old ? old.data : JSON.parse(el.dataset.points)
  if (!old) data[0] = data[0].map(x => x + +el.dataset.start)
  old?.destroy()
  const axis = {stroke: color('soft'), grid: {stroke: color('line'), width: 1}, ticks: {show: false}, font: '12px system-ui'}
  const size = () => ({width: el.clientWidth, height: 170})
  const time = x => x == null ? '–' : new Date(x * 1000).toTimeString().slice(0, 8)
  const names = el.dataset.series.split('|')
  const u = new uPlot({
    ...size(), padding: [8, 28, 0, 0], cursor: {drag: {x: true, y: false}}, axes: [{...axis, space: 80, values: (u, xs) => xs.map(x => u.data[0].length > 1 ? time(x) : '')}, {...axis, size: 54}],
    scales: {x: {time: true}, y: {range: (_, low, high) => [0, high > 0 ? high * 1.1 : 1]}},
    series: [{label: 'Time', value: (_, x) => time(x)}, ...names.map((label, i) => {
      const stroke = color('c' + (i + 1))
      return {label, stroke, width: 1.5, fill: i ? undefined : faint(stroke), points: {show: false}, value: (_, y) => y == null ? '–' : y.toLocaleString()}
    })],
  }, data, el)
  new ResizeObserver(() => u.setSize(size())).observe(el)
  charts.set(el.dataset.chart, u)
}
const draw = () => document.querySelectorAll('[data-chart]').forEach(chart)

// point adds the newest values: a time, and the values of each chart.
const point = ([x, ...values]) => {
  for (const [key, u] of charts) {
    const last = u.data[0].at(-1)
    if (last >= x) continue
    const gap = x - last > 5
    const grown = (col, y, hole) => [...col, ...(gap ? [hole] : []), y].slice(-most)
    u.setData(u.data.map((col, i) => i ? grown(col, values[key][i - 1], null) : grown(col, x, last + 1)))
  }
}

const morph = html => {
  const out = document.getElementById('output')
  const atEnd = out && out.scrollHeight - out.scrollTop - out.clientHeight < 40
  Idiomorph.morph(main, html, {
    morphStyle: 'innerHTML', restoreFocus: true,
    callbacks: {
      beforeNodeMorphed: (from, to) => !(from.nodeType === 1 && from.matches('input, select, textarea, [data-chart]')
        && to.nodeType === 1 && from.id === to.id),
      beforeAttributeUpdated: (name, el) => !(name === 'open' && el.nodeName === 'DETAILS'),
    },
  })
  if (atEnd) out.scrollTop = out.scrollHeight
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
  button.textContent = paused ? 'Go live' : 'Stop'
  button.title = paused ? 'Update this page live' : 'Stop updates of this page'
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
  scheme.title = scheme.ariaLabel = isDark ? 'Light colours' : 'Dark colours'
  scheme.onclick = () => { keep.set('scheme', isDark ? 'light' : 'dark'); colours() }
  draw()
}
scheme.hidden = false
dark.addEventListener('change', colours)

// A box that selects all rows of its form.
document.addEventListener('change', e => {
  if (e.target.id !== 'all') return
  e.target.form.querySelectorAll('input[name=id]').forEach(box => { box.checked = e.target.checked })
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
