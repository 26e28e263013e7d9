# SPDX-License-Identifier: MIT
"""Writes golden.txt: einsum equations with shapes, output shapes and exact results, and equations that must be refused.

    python3 make_golden.py > golden.txt        (NumPy 1.22 or later; the results do not depend on its version)

Lines:  equation|shape,shape,...|output shape|values in C order
        !CODE|equation|shape,shape,...
A shape is 2x3, or - for a scalar. Operand k of n holds value(n, k, i) at position i of its C order (see value(); the C tests repeat it), so
every result is an integer that float32 holds exactly. Results come from numpy.einsum in float64 on int64-valued operands.
"""
import random
import sys

import numpy as np


def value(operands, operand, index):
    """Never 0, so that products of many operands show every mistake; small where there are many operands."""
    hashed = ((index * 37 + operand * 11 + 5) * 2654435761) & 0xFFFFFFFF
    return (-3, -2, -1, 1, 2, 3)[(hashed >> 13) % 6] if operands <= 5 else (-1, 1, 1, 2)[(hashed >> 13) % 4]


def make(operands, operand, shape):
    count = int(np.prod(shape, dtype=np.int64))
    return np.array([value(operands, operand, i) for i in range(count)], dtype=np.float64).reshape(shape)


def text(shape):
    return "x".join(map(str, shape)) if len(shape) else "-"


def parse(shapes):
    return [() if s == "-" else tuple(int(d) for d in s.split("x")) for s in shapes.split(",")]


def evaluate(equation, shapes, convert=lambda x: x):
    """numpy.einsum of the converted operands, with the cases on which its versions differ written another way."""
    operands = [convert(make(len(shapes), k, s)) for k, s in enumerate(shapes)]
    left, arrow, right = equation.replace(" ", "").partition("->")
    cost = {}
    for term, shape in zip(left.split(","), shapes):
        for label in term.replace("...", ""):
            cost[label] = 8
    optimize = "greedy" if len(shapes) > 4 or len(cost) > 9 else False
    if arrow and "..." in left and "..." not in right:
        # the ellipsis axes are summed
        whole = np.einsum(left + "->..." + right, *operands, optimize=optimize)
        extra = whole.ndim - len(right)
        return whole.sum(axis=tuple(range(extra)))
    return np.asarray(np.einsum(left + arrow + right, *operands, optimize=optimize))


# equation, shapes; several shape lists per equation separated by ';'
CASES = """
|-
,|-,-
,,|-,-,-
->|-
,->|-,-
,i|-,4
i,|4,-
,ij|-,2x3
i,,j|2,-,3
i|5
i->|5;1;0
i->i|5;1;0
a b , b c -> a c|2x3,3x4
 i j |2x3
ij|2x3;1x3;3x1;1x1;0x3;3x0
ij->|2x3;1x1;0x3
ij->i|2x3;3x0;0x3
ij->j|2x3;3x0;0x3
ij->ij|2x3
ij->ji|2x3;1x4;0x2
ba|2x3
Ba|2x3
aB|2x3
mMaAzZ|2x1x3x2x1x2
ii|3x3;1x1;0x0
ii->|4x4
ii->i|3x3;1x1;0x0
iii|3x3x3
iii->i|3x3x3
iij|2x2x3
iij->j|2x2x3
iij->i|2x2x3
iij->ij|2x2x3
iji->j|3x2x3
ijij->ij|2x3x2x3
ijij->|2x3x2x3
iijj->ij|2x2x3x3
aabb->ab|2x2x3x3
abab->ba|2x3x2x3
ijk->kji|2x3x4
ijk->jik|2x3x4;1x3x4;2x1x4;2x3x1
ijk->k|2x3x4
ijk->ik|2x3x4
ijk->ki|2x3x4
ijk->|2x3x4
abcde->edcba|2x1x3x2x2
abcdef->fbdace|2x2x1x3x2x2
...|2x3;-;4
...->|2x3;-
...->...|2x3;-;1x2
i...|2x3x4;5
i...->...|2x3x4;3
...i->...|2x3x4;3
...i->i...|2x3x4
i...->...i|2x3x4;3
i...j->j...i|2x3x4
i...i->...|2x3x2
...ii->...i|2x3x3;3x3
...ii->...|2x3x3;4x4
ii...->...i|3x3x2
i...->i|2x3x4
...ij->ij|2x3x4;2x2x3x4
...->|2x2x2
i->...i|4
ij->...ij|2x3
ij->i...j|2x3
a...a->a...|2x3x2
ij,jk|2x3,3x4;1x3,3x1;2x0,0x3;2x1,1x3;0x3,3x2;2x1,3x4;2x3,1x4
ij,jk->ik|2x3,3x4;5x7,7x6;1x1,1x1;2x1,5x3
ij,jk->ki|2x3,3x4
ij,kj->ik|2x3,4x3
ji,jk->ik|3x2,3x4
ji,kj->ik|3x2,4x3
ij,jh|2x3,3x4
hi,ij|2x3,3x4
ij,jk->|2x3,3x4
ij,jk->j|2x3,3x4
ij,jk->ijk|2x3,3x4;2x1,3x4
ij,jk->i|2x3,3x4
ij,jk->k|2x3,3x4
ij,ij->ij|2x3,2x3;1x3,2x3;2x1,1x3
ij,ij->|2x3,2x3;1x3,2x1
ij,ij->i|2x3,2x3
ij,ij->j|2x3,2x3
ij,ji->|2x3,3x2
ij,ji->ij|2x3,3x2
ij,ji|2x3,3x2
ij,kl->ijkl|2x3,2x2;0x2,2x2
ij,kl|2x3,2x2
i,j->ij|3,4;1,4;0,4
i,j->ji|3,4
i,j|2,3
i,j->|2,3
i,i|4,4;1,4;4,1;0,0;0,1
i,i->i|4,4;1,4;1,1
i,i->|4,4
i,ij->j|2,2x3
ij,j->i|2x3,3;2x3,1;2x1,3
ij,j->ij|2x3,3
j,ij->i|3,2x3
ij,i->i|2x3,2
ij,i->ij|2x3,2
ii,i->i|3x3,3;1x1,3
ii,ij->j|3x3,3x2
ii,jj->ij|2x2,3x3
ii,ii|2x2,2x2
iij,jk->ik|2x2x3,3x2
iji,j->i|2x3x2,3
ijk,k->ij|2x3x4,4
ijk,jil->kl|2x3x4,3x2x2;1x3x4,3x2x2
ijk,ikl->ijl|2x3x4,2x4x3;2x3x4,1x4x3;1x3x4,2x4x3
ijk,ilk->ijl|2x3x4,2x3x4
bij,bjk->bik|2x3x4,2x4x2;0x3x4,0x4x2;2x3x0,2x0x2;3x1x4,3x4x1
bij,bjk->ibk|2x3x4,2x4x2
bij,bjk->bki|2x3x4,2x4x2
bij,bkj->bik|2x3x4,2x2x4
bij,bjk->b|2x3x4,2x4x2
bij,bij->b|2x3x4,2x3x4
bij,jk->bik|2x3x4,4x2
bij,j->bi|2x3x4,4
bqk,bkv->bqv|2x3x4,2x4x5
bqd,bkd->bqk|2x3x4,2x5x4
bi,bj->bij|2x3,2x4
bi,bi->b|3x4,3x4
bi,oij,bj->bo|3x2,4x2x3,3x3
bhij,bhjk->bhik|2x2x3x4,2x2x4x2
bhid,bhjd->bhij|2x2x3x2,2x2x4x2
ibhd,jbhd->ijbh|3x2x2x3,4x2x2x3;3x1x2x3,4x1x2x3;1x2x2x3,4x2x2x3;0x2x2x3,4x2x2x3;3x2x2x3,0x2x2x3
ijbh,jbhd->ibhd|3x4x2x2,4x2x2x3;3x4x1x2,4x1x2x3;3x0x2x2,0x2x2x3;3x4x2x2,4x1x2x3
nihd,njhd->nijh|2x3x2x3,2x4x2x3;1x3x2x3,1x4x2x3
nijh,njhd->nihd|2x3x4x2,2x4x2x3;2x3x1x2,2x1x2x3
id,jd->ij|3x4,5x4
ij,jd->id|3x5,5x4
lbd,hdk->lbhk|3x2x4,2x4x3
lbhk,hko->lbo|3x2x2x4,2x4x3
ijkl,klmn->ijmn|2x2x2x3,2x3x2x2
ijkl,lkmn->ijmn|2x2x2x3,3x2x2x2
ijkl,jlkm->im|2x2x3x2,2x2x3x4
ikjl,mkln->mijn|2x3x2x2,2x3x2x2
abcd,cbef->adfe|2x3x2x2,2x3x2x2
ajbk,kcjd->abcd|2x2x3x2,2x2x2x2
ijk,jkl->il|2x3x4,3x4x5
ijk,jkl,lm->im|2x3x2,3x2x2,2x3
ij,jk,kl->il|2x3,3x4,4x2;1x3,3x1,1x2;2x0,0x4,4x2
ij,jk,kl->|2x3,3x4,4x2
ij,jk,kl,lm->im|2x3,3x4,4x2,2x3;5x2,2x6,6x3,3x4
ab,bc,cd,de,ef->af|2x3,3x2,2x4,4x2,2x3
ij,ij,ij->ij|2x3,2x3,2x3
ij,ij,ij->|2x3,1x3,2x1
i,ij,j->|3,3x4,4
i,ij,j|3,3x4,4
i,ij,ijk->ijk|2,2x3,2x3x4
a,ab,abc->abc|2,2x3,2x3x4
a,b,ab->ab|2,3,2x3
a,a,a|3,3,3;1,3,1
i,j,k->ijk|2,3,2
i,j,k|2,3,2
ik,jk,lk->ijl|2x3,2x3,2x3
ir,jr,kr,r->ijk|2x3,2x3,2x3,3
ea,fb,abcd,gc,hd->efgh|2x2,2x2,2x2x2x2,2x2,2x2
ea,fb,gc,hd,abcd->efgh|2x3,2x3,2x2,2x2,3x3x2x2
ab,cd,ef->abcdef|2x2,2x1,1x3
ab,cd,ef->acdf|2x2,2x2,2x2
ab,cd,de->abcde|2x2,2x2,2x2
ab,cd,de->be|2x2,2x2,2x2
ab,bcd,cd->abcd|2x3,3x2x2,2x2
ab,bcd,cd->abd|2x3,3x2x2,2x2
ab,ab,c->|2x3,2x3,4
ab,ab,c->c|2x3,2x3,4
ab,ab,cd,cd->|2x3,2x3,2x2,2x2
ab,ab,cd,cd->ac|2x3,2x3,2x2,2x2
ab,ab,cd,cd->cd|2x3,2x3,2x2,2x2
ab,ab,cd,cd,ef,ef->|2x3,2x3,2x2,2x2,3x2,3x2
ab,cd,ef,abcdef->|2x2,2x2,2x2,2x2x2x2x2x2
ab,bc,ca->|2x3,3x4,4x2
ab,bc,bd->acd|2x4,1x3,4x2;2x1,4x3,1x2
aab,bc->ac|2x2x3,3x2
ab,bcc->ac|2x3,3x2x2
aab,bcc->ac|2x2x3,3x2x2
aab,bcc,dcd->|2x2x3,3x2x2,2x2x2
aab,ccb->ac|2x2x3,2x2x3
aab,bcb->ac|2x2x3,3x2x3
aab,fa,df,ecc->bde|2x2x3,2x2,3x2,2x2x2
ecb,fef,bad,ed->ac|2x2x3,2x2x2,3x2x3,2x3
bcf,bbb,fbf,fc->|2x3x2,2x2x2,2x2x2,2x3
bb,ff,be->e|2x2,3x3,2x4
bcb,bb,fc,fff->|2x3x2,2x2,2x3,2x2x2
fbb,dfd,fc,fc->|2x3x3,2x2x2,2x3,2x3
afd,ba,cc,dc->bf|2x3x2,2x2,3x3,2x3
adb,bc,fa,cfc->d|2x3x2,2x2,3x2,2x3x2
bbd,bda,fc,db->acf|2x2x3,2x3x2,2x2,3x2
dba,ead,cad->bce|2x3x2,2x2x2,3x2x2
aef,fbc,dca->bde|2x2x3,3x2x2,2x2x2
efc,dbc,acf,fd->abe|2x3x2,2x2x2,2x2x3,3x2
fdf,cdd,ccd,afe->ae|2x3x2,2x3x3,2x2x3,3x2x2
eb,cb,fb->cef|2x3,2x3,4x3
dd,fb,be,cdb->cef|2x2,3x2,2x2,2x2x2
bca,cdb,dbf,afc->|2x3x2,3x2x2,2x2x3,2x3x3
dcc,fce,ea,dbf->ab|2x3x3,2x3x2,2x2,2x2x2
fdf,cdd,ccd,afe->ae|3x2x3,2x2x2,2x2x2,2x3x2
abcd,ad|2x2x2x2,2x2
ed,ebc->dc|2x3,2x2x2
cdb,bde,cde->b|2x3x2,2x3x2,2x3x2
abc,bcd->ad|2x3x2,3x2x2
abc,dbc->ad|2x3x2,2x3x2
abc,bc->a|2x3x2,3x2
abcd,bd->ac|2x3x2x2,3x2
eb,ebcd->cd|2x3,2x3x2x2
dbc,bdc->|2x3x2,3x2x2
abcdef,fedcba->|2x2x2x1x2x2,2x2x1x2x2x2
cba,abc->|2x3x2,2x3x2
cba,abc->b|2x3x2,2x3x2
pqrs,tuqvr->pstuv|2x3x2x2,2x2x3x2x2
ap,bq,cr,ds,pqrs->abcd|2x2,2x2,2x2,2x2,2x2x2x2
abc,bdef,fghj,cem,mhk,ljk->adgl|2x2x2,2x2x2x2,2x2x2x2,2x2x2,2x2x2,2x2x2
ab,b,bc->ac|2x3,3,3x2;2x1,3,1x2
i...,i...->...|2x3x4,2x3x4;2x3x4,2x1x4;2x4,2x3x4;2,2x3
...i,...i->...|2x3,2x3;3,2x3;1x3,2x3;3,3
...ij,...jk->...ik|2x2x3,2x3x2;2x3,2x3x2;1x2x3,4x3x2;2x1x2x3,3x3x2;0x2x3,1x3x2
...ij,...jk->ik|2x2x3,2x3x2
...ij,jk->...ik|2x2x3,3x2;2x3,3x2
...ij,...kj->...ik|2x2x3,2x4x3
...,...|2x1,3;-,2x3;2x3,-;2x3,2x3;0,1
...,...->...|1x3,2x1
...,...->|2x3,3
...i,i...->...|2x3,3x2;3,3
i...,j...->ij...|2x3,4x3;2x1,4x3;2,4x3
i...,...j->ij...|2x3,3x4
ij...,j...->i...|2x3x2,3x2
ij...,jk...->ik...|2x3x2,3x2x2;2x3x1,3x2x4
i...j,j...k->i...k|2x3x2,2x3x4;2x1x2,2x3x4
i...j,...->ij|2x3x2,3
...ab,b->...a|2x2x3,3
a...,b...,c...->...abc|2x2,2x2,2x1
...a,...b,...c->|2x2,1x2,2x2
b...,a...->ab...|2x3,2x3
...lmn,lmno->...o|2x2x2x2,2x2x2x3
abhe,hidj->dbi...|2x2x2x2,2x2x2x2
i,ij...->j...|2,2x3x2
A,b->bA|2,3
aA,Aa->|2x3,3x2
zZ,Zz|2x3,3x2
abcdefghij,j->ia|2x1x1x2x1x1x2x1x2x3,3
abcdefghijklmnop->ponmlkjihgfedcba|1x2x1x1x2x1x1x1x3x1x1x1x2x1x1x1
...abcdefgh->hgfedcba...|2x1x2x1x2x1x2x1x2
a,b,c,d,e,f,g,h->abcdefgh|2,1,2,1,2,1,2,1
ab,bc,cd,de,ef,fg,gh,hi->ai|2x2,2x2,2x2,2x2,2x2,2x2,2x2,2x2
ab,bc,cd,de,ef,fg,gh,hi,ij,jk,kl,lm,mn,no,op,pq->aq|2x2,2x2,2x2,2x2,2x1,2x2,2x2,1x1,1x2,2x2,2x2,2x2,2x2,2x2,2x2,2x2
a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a->a|3,3,1,3,3,1,3,3,3,1,3,3,3,3,3,3
,,,,,,,,,,,,,,,|-,-,-,-,-,-,-,-,-,-,-,-,-,-,-,-
ab,ac,ad,ae,af,ag->a|2x2,2x2,2x3,2x2,2x1,2x2
ab,cb,db,eb,fb,gb,hb,ib,jb,kb,lb,mb,nb->a|3x2,2x2,2x2,2x2,1x2,2x2,2x2,2x2,1x2,2x2,2x2,2x2,2x2
"""

# \t and \n stand for themselves in the file too; the reader decodes them.
ERRORS = """
CHAR|1|2
CHAR|i%|2
CHAR|i;j|2x3
CHAR|i\\tj|2x3
CHAR|i\\nj|2x3
CHAR|i_j|2x3
CHAR|\u03b1\u03b2|2x3
CHAR|\u00e9|2
CHAR|ij->i,j|2x3
CHAR|ij,jk->i,k|2x3,3x4
CHAR|*|2
CHAR|i+j|2x3
CHAR|(ij)|2x3
CHAR|i1..|2x3
CHAR|i%..|2x3
ELLIPSIS_SYNTAX|i..|2x3
ELLIPSIS_SYNTAX|....|2x3
ELLIPSIS_SYNTAX|. ..|2x3
ELLIPSIS_SYNTAX|.. .|2x3
ELLIPSIS_SYNTAX|.|2x3
ELLIPSIS_SYNTAX|..|2x3
ELLIPSIS_SYNTAX|......|2x3
ELLIPSIS_SYNTAX|...i...|2x3
ELLIPSIS_SYNTAX|i...->......|2x3
ELLIPSIS_SYNTAX|i...->...i...|2x3
ELLIPSIS_SYNTAX|i..%|2x3
ELLIPSIS_SYNTAX|i->.|2
ELLIPSIS_SYNTAX|a...b,c..|2x3,3
ARROW|ij-ij|2x3
ARROW|ij>ij|2x3
ARROW|ij->->ij|2x3
ARROW|ij- >ji|2x3
ARROW|ij->ji->|2x3
ARROW|ij>|2x3
ARROW|ij-|2x3
ARROW|>|-
ARROW|-|-
ARROW|>-|-
ARROW|ij-->ij|2x3
ARROW|ij->>ij|2x3
ARROW|i-%|2
OPERAND_COUNT|ij,jk,|2x3,3x4
OPERAND_COUNT||2x3,3x4
OPERAND_COUNT|,|2x3
OPERAND_COUNT|i,j,k|2,3
OPERAND_COUNT|i|2,3
OPERAND_COUNT|i->zz|2,3
OPERAND_COUNT|ij|2,3
RANK|ij|2
RANK|i|2x3
RANK|i|-
RANK||2
RANK|...i|-
RANK|ij...|2
RANK|...ijk|2x3
RANK|ij,jk|2x3,3
RANK|ij,jk|2x3x4,3x4
RANK|ij->k|2
RANK|ii,j|2x3,2x3
RANK|,i|2,3
OUTPUT_UNKNOWN|ij->k|2x3
OUTPUT_UNKNOWN|ij,jk->iK|2x3,3x4
OUTPUT_UNKNOWN|->i|-
OUTPUT_UNKNOWN|ij->ijA|2x3
OUTPUT_UNKNOWN|ij->kk|2x3
OUTPUT_UNKNOWN|...->i|2
OUTPUT_UNKNOWN|ii->j|2x3
OUTPUT_REPEAT|ii->ii|2x2
OUTPUT_REPEAT|ij->iji|2x3
OUTPUT_REPEAT|ij,jk->ikk|2x3,3x4
OUTPUT_REPEAT|i...->...ii|2x3
OUTPUT_REPEAT|ii->iik|2x2
OUTPUT_REPEAT|ii->ii|2x3
DIAGONAL|ii|2x3
DIAGONAL|ii|1x3
DIAGONAL|ii->i|0x3
DIAGONAL|ii->i|3x1
DIAGONAL|iij|2x3x3
DIAGONAL|...ii|2x3x4
DIAGONAL|ij,kk|2x3,2x3
DIAGONAL|i,ii->i|3,3x1
DIAGONAL|ii,jj|2x3,2x3
DIAGONAL|i,ii->i|5,2x3
SIZE|ij,jk|2x3,4x5
SIZE|i,i|2,3
SIZE|i,i|0,2
SIZE|i,i|2,0
SIZE|i,i,i|1,2,3
SIZE|ij,ij|2x3,3x2
SIZE|ij,jk,kl->il|2x3,3x4,5x2
SIZE|i...,i...|2x3,4x3
SIZE|i,i,jj|2,3,2x3
SIZE|ii,i|2x2,3
SIZE|bij,bjk->bik|2x3x4,3x4x5
SIZE|i...,i...|2x3,4x5
ELLIPSIS_BROADCAST|...,...|2x3,2
ELLIPSIS_BROADCAST|...,...|2,3
ELLIPSIS_BROADCAST|...,...|0,2
ELLIPSIS_BROADCAST|i...,i...|2x3,2x4
ELLIPSIS_BROADCAST|...ij,...jk|2x2x3,3x3x2
ELLIPSIS_BROADCAST|...,...,...|2,1,3
ELLIPSIS_BROADCAST|...a,a...|2x3,3x3
LIMIT|a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a|2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2
LIMIT|abcdefghi,jklmnopqr|1x1x1x1x1x1x1x1x1,1x1x1x1x1x1x1x1x1
LIMIT|abcdefghi,jklmnopqr->abcdefghijklmnopqr|1x1x1x1x1x1x1x1x1,1x1x1x1x1x1x1x1x1
LIMIT|...,abcdefghi->...abcdefghi|1x1x1x1x1x1x1x1,1x1x1x1x1x1x1x1x1
"""


def random_case(rng):
    """Labels with sizes, terms drawn from them; sizes become 1 at random places, repeated labels and ellipses appear."""
    count = rng.choice([1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 6, 8])
    letters = rng.sample("abcdefghijXYZ", rng.randint(1, 7 if count < 5 else 6))
    size = {c: rng.choice([1, 2, 2, 2, 3, 3, 4, 5]) if rng.random() > 0.015 else 0 for c in letters}
    ellipsis = [rng.choice([1, 2, 3]) for _ in range(rng.choice([0, 0, 0, 1, 2]))]
    terms, shapes = [], []
    for _ in range(count):
        labels = [rng.choice(letters) for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]))]
        if rng.random() < 0.7:
            labels = list(dict.fromkeys(labels))
        stretched = {c for c in labels if rng.random() < 0.12}
        shape = [1 if c in stretched else size[c] for c in labels]
        if ellipsis and rng.random() < 0.7:
            at = rng.randint(0, len(labels))
            used = ellipsis[rng.randint(0, len(ellipsis)):]
            shape[at:at] = [1 if rng.random() < 0.15 else d for d in used]
            labels.insert(at, "...")
        terms.append("".join(labels))
        shapes.append(tuple(shape))
    equation = ",".join(terms)
    if rng.random() < 0.75:
        present = sorted(set("".join(terms)) - {"."})
        output = rng.sample(present, rng.randint(0, len(present)))
        if rng.random() < (0.85 if "..." in equation else 0.05):
            output.insert(rng.randint(0, len(output)), "...")
        equation += "->" + "".join(output)
    if rng.random() < 0.1:
        equation = equation.replace(",", " , ").replace("->", " -> ")
    return equation, shapes


def write(equation, shapes):
    result = evaluate(equation, shapes)
    assert np.all(result == np.rint(result)) and np.all(evaluate(equation, shapes, np.abs) < 2 ** 24), equation
    print("|".join([equation, ",".join(map(text, shapes)), text(result.shape), " ".join(str(int(v)) for v in result.ravel())]))


def main():
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    print("# Written by make_golden.py; see there for the format.")
    for line in CASES.split("\n"):
        if not line:
            continue
        equation, _, shapes = line.partition("|")
        for one in shapes.split(";"):
            write(equation, parse(one))
    rng = random.Random(20240501)
    done, seen = 0, set()
    while done < 330:
        equation, shapes = random_case(rng)
        if (equation, tuple(shapes)) in seen or sum(1 for s in shapes for d in s) > 24:
            continue
        seen.add((equation, tuple(shapes)))
        result = evaluate(equation, shapes)
        if result.size > 96 or result.ndim > 16 or np.any(evaluate(equation, shapes, np.abs) >= 2 ** 24):
            continue
        write(equation, shapes)
        done += 1
    for line in ERRORS.strip("\n").split("\n"):
        print("!E_" + line)


if __name__ == "__main__":
    main()
