window.drawItems();
