// The page: all sections for which there are data.

function reveal(id) {
  byId(id).hidden = false;
  const link = document.querySelector(`nav a[href="#${id}"]`);
  if (link) link.parentElement.hidden = false;
}

growthSection();
neuronsSection();
if (data.importance) importanceSection();
if (data.errors) errorsSection();
if (data.ridgelets) ridgeletsSection();
copyButtons();
