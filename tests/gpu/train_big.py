# SPDX-License-Identifier: MIT
# A 166 M-parameter transformer trained with torch.compile: python train_big.py [compile mode] [steps] [layers]
import sys, time, torch, torch.nn as nn
mode = sys.argv[1] if len(sys.argv) > 1 else 'default'; steps = int(sys.argv[2]) if len(sys.argv) > 2 else 12
torch.manual_seed(0);dev='cuda'
D,L,H,V,T,B=1024,int(sys.argv[3]) if len(sys.argv) > 3 else 8,16,32000,1024,8
class Blk(nn.Module):
    def __init__(s):
        super().__init__();s.ln1=nn.LayerNorm(D);s.ln2=nn.LayerNorm(D);s.qkv=nn.Linear(D,3*D);s.o=nn.Linear(D,D);s.f1=nn.Linear(D,4*D);s.f2=nn.Linear(4*D,D)
    def forward(s,x):
        b,t,d=x.shape;q,k,v=s.qkv(s.ln1(x)).view(b,t,3,H,d//H).permute(2,0,3,1,4)
        a=nn.functional.scaled_dot_product_attention(q,k,v,is_causal=True).transpose(1,2).reshape(b,t,d)
        x=x+s.o(a);return x+s.f2(nn.functional.gelu(s.f1(s.ln2(x))))
class M(nn.Module):
    def __init__(s):
        super().__init__();s.e=nn.Embedding(V,D);s.b=nn.ModuleList([Blk() for _ in range(L)]);s.h=nn.Linear(D,V)
    def forward(s,i,t):
        x=s.e(i)
        for b in s.b:x=b(x)
        return nn.functional.cross_entropy(s.h(x).float().view(-1,V),t.view(-1))
m=M().to(dev);print('params M',sum(p.numel() for p in m.parameters())/1e6)
o=torch.optim.AdamW(m.parameters(),lr=1e-4,fused=False);f=torch.compile(m,mode=None if mode=='default' else mode);st=torch.compile(lambda:o.step())
i=torch.randint(0,V,(B,T),device=dev);t=torch.randint(0,V,(B,T),device=dev);ts=[]
for k in range(steps):
    t0=time.time();o.zero_grad(set_to_none=True)
    with torch.autocast('cuda',dtype=torch.bfloat16):l=f(i,t)
    l.backward();st();torch.cuda.synchronize();ts.append(time.time()-t0)
s=sorted(ts[3:]);h=sorted(ts[len(ts)//2:]);print(mode,'loss',l.item(),'first',round(ts[0],2),'median step ms',round(s[len(s)//2]*1e3,2),'min',round(s[0]*1e3,2),'later steps ms',round(h[len(h)//2]*1e3,3),'peak GiB',torch.cuda.max_memory_allocated()/2**30)
