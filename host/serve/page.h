/* SPDX-License-Identifier: MIT */
/* The web page that the server shows at /: page.html as data of the program (page.S). */
#ifndef CLFI_SERVE_PAGE_H
#define CLFI_SERVE_PAGE_H

extern const char clfi_serve_page[], clfi_serve_page_end[];

#endif
