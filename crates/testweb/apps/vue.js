// A classic script with a router of its own: the address is rewritten once, XHR brings the data,
// and the list comes in a second chunk.
(function () {
  var app = document.getElementById('app');
  function load(path, then) {
    var request = new XMLHttpRequest();
    request.open('GET', path);
    request.onload = function () { then(JSON.parse(request.responseText)); };
    request.send();
  }
  function draw(title, html) {
    document.title = title;
    app.innerHTML = '<nav><a href="/">Home</a> <a href="/about">About</a></nav><main>' + html + '</main>';
  }
  window.drawItems = function () {
    load('/api/items.json', function (items) {
      draw('All items', '<h1>All items</h1><ul>' + items.map(function (i) {
        return '<li><a href="/items/' + i.id + '">' + i.name + '</a></li>';
      }).join('') + '</ul>');
    });
  };
  var item = /^\/items\/(\d+)$/.exec(location.pathname);
  if (item) {
    load('/api/items/' + item[1] + '.json', function (i) {
      var next = i.next ? '<a href="/items/' + i.next + '">Next</a>' : '';
      draw(i.name, '<h1>' + i.name + '</h1><p>' + i.text + '</p>' + next);
    });
  } else if (location.pathname === '/about') {
    setTimeout(function () { draw('About', '<h1>About</h1><p>A page that only scripts can write.</p>'); }, 50);
  } else {
    history.replaceState(null, '', '/?view=list');
    var chunk = document.createElement('script');
    chunk.src = '/assets/list.js';
    document.body.appendChild(chunk);
  }
})();
